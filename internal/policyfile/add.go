package policyfile

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/metnos/vaglio/vaglio/judge/effects"
	"github.com/metnos/vaglio/vaglio/operation"
)

// Rule is a line of the policy that would spare questions, or ask more of them.
type Rule struct {
	// Program reaches Reach; empty for a rule of the score.
	Program string
	Reach   operation.Reach
	// MinScore is what effects must score to pass.
	MinScore float64
}

// RuleError says why a rule cannot be in a policy file.
type RuleError struct{ Rule, Problem string }

func (e *RuleError) Error() string {
	return fmt.Sprintf("%s: %s. Nothing was written.", e.Rule, e.Problem)
}

// scoreKey names the score among rules.
const scoreKey = "min_score"

// ParseRule reads a rule as it is typed: a program and what it reaches, such as
// "tix=workspace", or "min_score=0.4".
func ParseRule(s string) (Rule, error) {
	name, value, _ := strings.Cut(s, "=")
	if name == "" || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		s = strconv.Quote(s)
		return Rule{}, &RuleError{s, "a rule is a program and what it reaches, such as tix=workspace, or min_score=0.4"}
	}
	if name != scoreKey {
		return Rule{Program: name, Reach: operation.Reach(value)}, nil
	}
	score, err := strconv.ParseFloat(value, 64)
	if err != nil || !share(&score) {
		return Rule{}, &RuleError{s, "min_score is a number from 0 to 1, such as min_score=0.4"}
	}
	return Rule{MinScore: score}, nil
}

// String is the rule as it is typed.
func (r Rule) String() string {
	if r.Program != "" {
		return r.Program + "=" + string(r.Reach)
	}
	return scoreKey + "=" + r.score()
}

func (r Rule) score() string { return strconv.FormatFloat(r.MinScore, 'g', -1, 64) }

// With returns the policy with the rule in the text of its file, in which all else stays
// as it is. A [*RuleError] says why it cannot be put there.
func (p *Policy) With(r Rule, name, home string) (Policy, error) {
	if r.Program != "" {
		if _, err := effects.New(effects.Options{Programs: map[string]operation.Reach{r.Program: r.Reach}}); err != nil {
			return Policy{}, &RuleError{r.String(), err.Error()}
		}
	}
	old := string(p.text)
	var text string
	switch was, known := p.Programs[r.Program]; {
	case r.Program == "":
		text = p.withScore(old, r)
	case known:
		return Policy{}, &RuleError{r.String(), fmt.Sprintf("%s stands among programs already, as %s", r.Program, was)}
	default:
		text = WithLines(old, "programs", fmt.Sprintf("  %s: %s\n", r.Program, r.Reach))
	}
	better, err := Parse(name, []byte(text), home)
	if err != nil || !better.has(r) || !better.sameBut(p, r) {
		return Policy{}, &RuleError{r.String(), "what stands there is in another form than one line each; put it there by hand"}
	}
	better.Path = p.Path
	return better, nil
}

// has reports whether the rule holds.
func (p *Policy) has(r Rule) bool {
	if r.Program != "" {
		return p.Programs[r.Program] == r.Reach
	}
	return slices.ContainsFunc(p.Judges, func(v Validation) bool { return v.Type == TypeEffects && v.Threshold() == r.MinScore })
}

// sameBut reports whether the policy is another one with the rule, as far as rules can
// change it.
func (p *Policy) sameBut(old *Policy, r Rule) bool {
	programs := maps.Clone(p.Programs)
	if r.Program != "" {
		delete(programs, r.Program)
	}
	return maps.Equal(programs, old.Programs) && len(p.Judges) == len(old.Judges) && slices.Equal(p.Workspaces, old.Workspaces) &&
		len(p.Routing.Rules) == len(old.Routing.Rules) && len(p.ResumeURLs) == len(old.ResumeURLs)
}

// withScore writes the score into the entry of effects: in place of the one that is
// there, behind its type, or with the whole list where none stands in the file.
func (p *Policy) withScore(text string, r Rule) string {
	at := slices.IndexFunc(p.Judges, func(v Validation) bool { return v.Type == TypeEffects })
	for _, steps := range [][]string{{"execution", "tool_validation"}, {"spec", "execution", "tool_validation"}} {
		entry := append(slices.Clone(steps), strconv.Itoa(max(at, 0)))
		if score := position([]byte(text), pathOf(append(slices.Clone(entry), scoreKey))); score != nil {
			return edited(text, score.Line, score.Column, func(rest string) string {
				return scalar.ReplaceAllLiteralString(rest[:len(scalar.FindString(rest))], r.score()) + rest[len(scalar.FindString(rest)):]
			})
		}
		if kind := position([]byte(text), pathOf(append(slices.Clone(entry), "type"))); kind != nil {
			return edited(text, kind.Line, kind.Column, func(rest string) string {
				word := scalar.FindString(rest)
				return word + p.behindType(text, kind.Line, r) + rest[len(word):]
			})
		}
		if position([]byte(text), pathOf(steps[:1])) != nil {
			return text // It has no entry of effects, which is for a person to add.
		}
	}
	return WithLines(text, "execution", "  tool_validation:\n", "    - {type: effects, min_score: "+r.score()+"}\n")
}

// behindType is the score behind the type of an entry, in the form of its line.
func (p *Policy) behindType(text string, line int, r Rule) string {
	whole := strings.Split(text, "\n")[line-1]
	if strings.Contains(whole, "{") {
		return ", min_score: " + r.score()
	}
	indent := len(whole) - len(strings.TrimLeft(whole, " -"))
	return "\n" + strings.Repeat(" ", indent) + "min_score: " + r.score()
}

// scalar is a word or a number of YAML.
var scalar = regexp.MustCompile(`^["']?[A-Za-z0-9_.+-]+["']?`)

// edited changes a text from a place on, which is counted in characters from 1.
func edited(text string, line, column int, change func(rest string) string) string {
	lines := strings.SplitAfter(text, "\n")
	before := strings.Join(lines[:line-1], "") + string([]rune(lines[line-1])[:column-1])
	return before + change(text[len(before):])
}

// WithLines puts lines below a key that stands at the beginning of a line of a policy's
// text, and the key at the end where it is missing.
func WithLines(text, key string, lines ...string) string {
	if len(lines) == 0 {
		return text
	}
	head := regexp.MustCompile(`(?m)^` + key + `:[ \t]*(#.*)?\n`)
	if at := head.FindStringIndex(text); at != nil {
		return text[:at[1]] + strings.Join(lines, "") + text[at[1]:]
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + key + ":\n" + strings.Join(lines, "")
}
