package main

import (
	"bufio"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
)

//go:embed go.mod
var goMod string

const module = "github.com/zricethezav/gitleaks/v8"

// leftOut are the rules that are not imported, and why.
var leftOut = map[string]string{
	"generic-api-key":  "the masker's own rules read names and values, and know code from secrets",
	"curl-auth-user":   "the masker's own rule masks the password alone",
	"curl-auth-header": "the masker's own rules know headers, wherever they stand",
	"private-key":      "the masker's own rule masks line by line, and no command among them",
}

// rule is a rule in the form that the masker reads.
type rule struct {
	ID string `json:"id"`
	// Regex finds the secret: it is Group or, if that is 0, the first group that is not empty or
	// else the whole match.
	Regex string `json:"regex"`
	Group int    `json:"group,omitempty"`
	// Entropy is the minimum entropy of a secret, in bits per character.
	Entropy float64 `json:"entropy,omitempty"`
	// Starts are lower-case literals, one of which begins every match. A rule without them has
	// Needs, one of which the text must contain.
	Starts []string `json:"starts,omitempty"`
	Needs  []string `json:"needs,omitempty"`
}

// rules returns gitleaks's rules.
func rules() ([]rule, error) {
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		return nil, err
	}
	var all []rule
	for _, r := range d.Config.Rules {
		if leftOut[r.RuleID] != "" || r.Regex == nil || r.Path != nil {
			continue
		}
		one, err := reduce(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.RuleID, err)
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b rule) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// reduce makes a rule small: what precedes the name of a service is irrelevant, and the literals
// that a match starts with are more specific than keywords.
func reduce(r config.Rule) (rule, error) {
	const before = `[\w.-]{0,50}?`
	source := r.Regex.String()
	for _, flags := range []string{"", "(?i)", "(?i:"} {
		if rest, ok := strings.CutPrefix(source, flags+before); ok {
			source = flags + rest
		}
	}
	out := rule{ID: r.RuleID, Regex: source, Group: r.SecretGroup, Entropy: r.Entropy}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return out, err
	}
	leads, _ := leadsOf(tree)
	out.Starts = shortest(slices.Sorted(maps.Keys(leads)))
	if slices.ContainsFunc(out.Starts, func(l string) bool { return len(l) < 2 || !said(l, r.Keywords) }) {
		out.Starts, out.Needs = nil, r.Keywords
	}
	return out, nil
}

// said reports whether a literal contains or begins one of the keywords. Otherwise the keyword is
// the rarer one: "pat" is in every path.
func said(literal string, keywords []string) bool {
	return slices.ContainsFunc(keywords, func(k string) bool {
		k = strings.ToLower(k)
		return strings.Contains(literal, k) || strings.HasPrefix(k, literal)
	})
}

// shortest cuts literals to a sufficient length, and drops those that begin with another one.
func shortest(sorted []string) []string {
	const enough = 10
	var out []string
	for _, l := range sorted {
		l = l[:min(len(l), enough)]
		if n := len(out); n == 0 || !strings.HasPrefix(l, out[n-1]) {
			out = append(out, l)
		}
	}
	return out
}

const maxLeads = 64

// leadsOf returns lower-case literals, one of which begins every match, and whether they are
// complete, so that what follows the expression follows them.
func leadsOf(re *syntax.Regexp) (map[string]bool, bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return map[string]bool{strings.ToLower(string(re.Rune)): true}, true
	case syntax.OpCharClass:
		leads := map[string]bool{}
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if leads[strings.ToLower(string(r))] = true; len(leads) > 6 {
					return map[string]bool{"": true}, false
				}
			}
		}
		return leads, true
	case syntax.OpCapture:
		return leadsOf(re.Sub[0])
	case syntax.OpEmptyMatch, syntax.OpWordBoundary, syntax.OpBeginText, syntax.OpBeginLine:
		return map[string]bool{"": true}, true
	case syntax.OpAlternate:
		leads, whole := map[string]bool{}, true
		for _, sub := range re.Sub {
			more, complete := leadsOf(sub)
			whole = whole && complete
			for l := range more {
				leads[l] = true
			}
		}
		return leads, whole
	case syntax.OpQuest:
		leads, whole := leadsOf(re.Sub[0])
		leads[""] = true
		return leads, whole
	case syntax.OpRepeat:
		if re.Min > 0 {
			leads, whole := leadsOf(re.Sub[0])
			return leads, whole && re.Min == 1 && re.Max == 1
		}
	case syntax.OpConcat:
		return concat(re.Sub)
	}
	return map[string]bool{"": true}, false
}

func concat(subs []*syntax.Regexp) (map[string]bool, bool) {
	leads := map[string]bool{"": true}
	for _, sub := range subs {
		more, whole := leadsOf(sub)
		if len(leads)*len(more) > maxLeads {
			return leads, false
		}
		next := map[string]bool{}
		for a := range leads {
			for b := range more {
				next[a+b] = true
			}
		}
		leads = next
		if !whole {
			return leads, false
		}
	}
	return leads, true
}

// writeRules writes the rules, with a header that says where they come from.
func writeRules(to io.Writer) error {
	all, err := rules()
	if err != nil {
		return err
	}
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, "# Rules for secrets from %s %s, config/gitleaks.toml.\n", module, version())
	fmt.Fprint(w, "# MIT License, Copyright (c) 2019 Zachary Rice: LICENSE.gitleaks. Reduced by tools/secrets; do not edit.\n")
	for _, id := range slices.Sorted(maps.Keys(leftOut)) {
		fmt.Fprintf(w, "# Left out: %s: %s.\n", id, leftOut[id])
	}
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	for _, r := range all {
		if err := lines.Encode(r); err != nil {
			return err
		}
	}
	return w.Flush()
}

// version returns the version of the gitleaks module in go.mod.
func version() string {
	_, rest, _ := strings.Cut(goMod, module+" ")
	return strings.Fields(rest)[0]
}
