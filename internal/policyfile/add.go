package policyfile

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio/judge/effects"
	"github.com/metnos/vaglio/vaglio/operation"
)

// Rule is one rule of the policy that avoids questions, or asks more of them.
type Rule struct {
	// Program reaches Reach; empty for a rule about the score.
	Program string
	Reach   operation.Reach
	// MinScore is the effects judge's score that a call needs.
	MinScore float64
	// Sends sends calls to a route; without a route the rule is of another kind.
	Sends approval.Rule
}

// RuleError says why a rule cannot be added to a policy file.
type RuleError struct{ Rule, Problem string }

func (e *RuleError) Error() string {
	return fmt.Sprintf("%s: %s. Nothing was written.", e.Rule, e.Problem)
}

// The keys of a score and a route in a rule.
const (
	scoreKey = "min_score"
	routeKey = "route"
)

// ParseRule parses a rule as it is typed: a program and what it reaches, such as "tix=workspace", a
// score, such as "min_score=0.4", or a route and the calls to send there, such as
// "route=careful agents=coder effects=publish,delete".
func ParseRule(words ...string) (Rule, error) {
	s := strings.Join(words, " ")
	for _, w := range words {
		if strings.Index(w, "=") < 1 || strings.ContainsFunc(w, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
			return Rule{}, &RuleError{strconv.Quote(s), "a rule is a program and what it reaches, such as tix=workspace, or min_score=0.4, " +
				"or a route and which calls go there, such as route=careful effects=publish"}
		}
	}
	if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, routeKey+"=") }) {
		return parseSending(s, words)
	}
	if len(words) != 1 {
		return Rule{}, &RuleError{s, "only a route has conditions, such as route=careful effects=publish"}
	}
	name, value, _ := strings.Cut(s, "=")
	if name != scoreKey {
		return Rule{Program: name, Reach: operation.Reach(value)}, nil
	}
	score, err := strconv.ParseFloat(value, 64)
	if err != nil || !share(&score) {
		return Rule{}, &RuleError{s, "min_score is a number from 0 to 1, such as min_score=0.4"}
	}
	return Rule{MinScore: score}, nil
}

// parseSending parses the words of a rule that sends calls to a route.
func parseSending(s string, words []string) (Rule, error) {
	var r Rule
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		names := strings.Split(value, ",")
		if slices.Contains(names, "") {
			return Rule{}, &RuleError{s, key + " names nothing; write names behind it, separated by commas, as in effects=publish,delete"}
		}
		if key == routeKey && r.Sends.Route == "" {
			r.Sends.Route = value
			continue
		}
		into := conditions(&r.Sends)[key]
		switch {
		case key == routeKey, into != nil && len(*into) > 0:
			return Rule{}, &RuleError{s, key + " stands there twice"}
		case into == nil:
			return Rule{}, &RuleError{s, fmt.Sprintf("%s is not a condition; known: %s", key, strings.Join(slices.Sorted(maps.Keys(conditions(&r.Sends))), ", "))}
		}
		*into = names
	}
	if len(conditioned(&r.Sends)) == 0 {
		return Rule{}, &RuleError{s, "it fits every call, as the last rule does; say which calls, as in effects=publish"}
	}
	return r, nil
}

// conditions returns pointers to a rule's conditions, by their keys in the file.
func conditions(r *approval.Rule) map[string]*[]string {
	return map[string]*[]string{"agents": &r.Agents, "executors": &r.Executors, "effects": &r.Effects, "reaches": &r.Reaches}
}

// conditioned returns the keys of the conditions that a rule has, sorted.
func conditioned(r *approval.Rule) []string {
	places := conditions(r)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(places)), func(key string) bool { return len(*places[key]) == 0 })
}

// String returns the rule as it is typed.
func (r Rule) String() string {
	switch {
	case r.Program != "":
		return r.Program + "=" + string(r.Reach)
	case r.Sends.Route != "":
		words := []string{routeKey + "=" + r.Sends.Route}
		for _, key := range conditioned(&r.Sends) {
			words = append(words, key+"="+strings.Join(*conditions(&r.Sends)[key], ","))
		}
		return strings.Join(words, " ")
	default:
		return scoreKey + "=" + r.score()
	}
}

func (r Rule) score() string { return strconv.FormatFloat(r.MinScore, 'g', -1, 64) }

// With returns the policy with the rule added to the text of its file, in which everything else
// stays as it is. A [*RuleError] says why the rule cannot be added.
func (p *Policy) With(r Rule, name, home string) (Policy, error) {
	if r.Program != "" {
		if _, err := effects.New(effects.Options{Programs: map[string]operation.Reach{r.Program: r.Reach}}); err != nil {
			return Policy{}, &RuleError{r.String(), err.Error()}
		}
	}
	old := string(p.text)
	var text string
	switch was, known := p.Programs[r.Program]; {
	case r.Sends.Route != "":
		if problem := p.refuses(&r.Sends); problem != "" {
			return Policy{}, &RuleError{r.String(), problem}
		}
		text = withSending(old, &r.Sends)
	case r.Program == "":
		text = p.withScore(old, r)
	case known:
		return Policy{}, &RuleError{r.String(), fmt.Sprintf("%s is already listed under programs, as %s", r.Program, was)}
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

// has reports whether the policy contains the rule.
func (p *Policy) has(r Rule) bool {
	switch {
	case r.Program != "":
		return p.Programs[r.Program] == r.Reach
	case r.Sends.Route != "":
		return len(p.Routing.Rules) > 0 && reflect.DeepEqual(p.Routing.Rules[0], r.Sends)
	}
	return slices.ContainsFunc(p.Judges, func(v Validation) bool { return v.Type == TypeEffects && v.Threshold() == r.MinScore })
}

// sameBut reports whether p is old with the rule added, in all that rules can change.
func (p *Policy) sameBut(old *Policy, r Rule) bool {
	programs := maps.Clone(p.Programs)
	if r.Program != "" {
		delete(programs, r.Program)
	}
	rules := p.Routing.Rules
	if r.Sends.Route != "" {
		rules = rules[1:]
	}
	return maps.Equal(programs, old.Programs) && len(p.Judges) == len(old.Judges) && slices.Equal(p.Workspaces, old.Workspaces) &&
		slices.EqualFunc(rules, old.Routing.Rules, func(a, b approval.Rule) bool { return reflect.DeepEqual(a, b) }) && len(p.ResumeURLs) == len(old.ResumeURLs)
}

// refuses returns why calls cannot be sent as a rule says, "" if they can.
func (p *Policy) refuses(r *approval.Rule) string {
	names := make([]string, len(p.Routing.Routes))
	for i := range p.Routing.Routes {
		names[i] = p.Routing.Routes[i].Name
	}
	_, known := p.Routing.Route(r.Route)
	var wrong *approval.RoutingError
	switch {
	case len(names) == 0:
		return "the policy has no routes; they stand under approval, with those who may decide"
	case !known:
		return fmt.Sprintf("there is no route %q; known: %s", r.Route, strings.Join(names, ", "))
	case errors.As((&ruleFile{Effects: r.Effects, Reaches: r.Reaches}).check(0), &wrong):
		return "it " + wrong.Problem
	case slices.ContainsFunc(p.Routing.Rules, func(o approval.Rule) bool { return reflect.DeepEqual(o, *r) }):
		return "the rules already have it"
	default:
		return ""
	}
}

// withSending adds a rule before all others, so that it takes effect.
func withSending(text string, r *approval.Rule) string {
	first := position([]byte(text), pathOf([]string{"approval", "rules", "0"}))
	if first == nil {
		return text
	}
	entry := yaml.MapSlice{}
	for _, key := range conditioned(r) {
		entry = append(entry, yaml.MapItem{Key: key, Value: *conditions(r)[key]})
	}
	line, err := yaml.MarshalWithOptions(append(entry, yaml.MapItem{Key: routeKey, Value: r.Route}), yaml.Flow(true))
	if err != nil {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	at := first.Line - 1
	dash := strings.Index(lines[at], "- ")
	if dash < 0 || strings.TrimSpace(lines[at][:dash]) != "" {
		return text // The rules share one line, or the dash has a line of its own.
	}
	for at > 0 && strings.HasPrefix(strings.TrimSpace(lines[at-1]), "#") {
		at-- // A comment belongs to what follows it.
	}
	added := lines[first.Line-1][:dash] + "- " + strings.TrimSpace(string(line)) + "\n"
	return strings.Join(slices.Insert(lines, at, added), "")
}

// withScore writes the score into the entry of effects: it replaces an existing score, adds one
// after the entry's type, or adds the whole list if the file has none.
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
			return text // The list has no entry of effects, which a person must add.
		}
	}
	return WithLines(text, "execution", "  tool_validation:\n", "    - {type: effects, min_score: "+r.score()+"}\n")
}

// behindType returns the score to insert after the type of an entry, in the form of that line.
func (p *Policy) behindType(text string, line int, r Rule) string {
	whole := strings.Split(text, "\n")[line-1]
	if strings.Contains(whole, "{") {
		return ", min_score: " + r.score()
	}
	indent := len(whole) - len(strings.TrimLeft(whole, " -"))
	return "\n" + strings.Repeat(" ", indent) + "min_score: " + r.score()
}

// scalar matches a word or a number in YAML.
var scalar = regexp.MustCompile(`^["']?[A-Za-z0-9_.+-]+["']?`)

// edited replaces the text from a position on. The position is counted in characters from 1.
func edited(text string, line, column int, change func(rest string) string) string {
	lines := strings.SplitAfter(text, "\n")
	before := strings.Join(lines[:line-1], "") + string([]rune(lines[line-1])[:column-1])
	return before + change(text[len(before):])
}

// WithLines adds lines below a top-level key in a policy's text, and adds the key at the end if it
// is missing.
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
