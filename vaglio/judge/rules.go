// Package judge holds the judges of phase two that need no model.
package judge

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/metnos/vaglio/vaglio"
)

// KindRules is the kind of the judge that [Rules] returns.
const KindRules = "rule-based-v1"

// Rules returns the rule-based judge: four signals around a base score of 0.7. It asks nobody and
// always has full confidence. Its scores are sums of IEEE doubles, so that 0.7 and 0.1 make
// 0.7999999999999999.
func Rules() vaglio.Judge { return rules{} }

type rules struct{}

// The weights are variables because constant arithmetic would be exact.
type weights struct{ base, named, climbs, oddKey, harmless float64 }

// Kind returns [KindRules].
func (rules) Kind() string { return KindRules }

// Grade never fails.
func (rules) Grade(_ context.Context, p vaglio.Proposal) (vaglio.GradientResult, error) {
	w := weights{base: 0.7, named: 0.1, climbs: 0.2, oddKey: 0.1, harmless: 0.05}
	g := grade{score: w.base}
	if _, ok := namedToken(p.Executor, p.Intent); ok {
		g.add(w.named, "intent", "intent matches executor", true)
	}
	if climbs(map[string]any(p.Args)) {
		g.add(-w.climbs, "path_traversal", "possible path traversal ('..' in path)", true)
	}
	if key, ok := oddKey(p.Args); ok {
		g.add(-w.oddKey, "args_keys", "anomalous args key: '"+key+"'", true)
	}
	if p.Context.Critical != nil && !*p.Context.Critical {
		g.add(w.harmless, "critical", "the executor is declared not critical", false)
	}
	reasoning := "base score"
	if len(g.notes) > 0 {
		reasoning = strings.Join(g.notes, "; ")
	}
	return vaglio.GradientResult{
		Judge:      KindRules,
		Score:      max(0, min(1, g.score)),
		Confidence: 1,
		Reasoning:  reasoning,
		Signals:    g.signals,
	}, nil
}

// grade is a score being computed.
type grade struct {
	score   float64
	notes   []string
	signals []vaglio.Signal
}

// add changes the score. The signal's own score is 1 if it speaks for the call and 0 if it speaks
// against it.
func (g *grade) add(by float64, category, message string, noted bool) {
	g.score += by
	if noted {
		g.notes = append(g.notes, message)
	}
	s := vaglio.Signal{Category: category, Message: message}
	if by > 0 {
		s.Score = 1
	}
	g.signals = append(g.signals, s)
}

// namedToken finds a token of the executor's name in the lower-cased intent. It does not
// lower-case the token, and ignores tokens of fewer than three characters.
func namedToken(executor, intent string) (string, bool) {
	if intent == "" {
		return "", false
	}
	intent = lower(intent)
	for token := range strings.FieldsFuncSeq(executor, func(r rune) bool { return r == '_' || isPythonSpace(r) }) {
		if utf8.RuneCountInString(token) >= 3 && strings.Contains(intent, token) {
			return token, true
		}
	}
	return "", false
}

// lower lower-cases text as Python does, which knows a final sigma and a dotted I.
func lower(text string) string {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return cases.Lower(language.Und).String(text)
		}
	}
	return strings.ToLower(text)
}

// isPythonSpace reports whether \s matches a character in Python.
func isPythonSpace(r rune) bool {
	return unicode.IsSpace(r) || (0x1c <= r && r <= 0x1f)
}

// climbs reports whether any string value contains both ".." and "/". It ignores keys.
func climbs(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, "..") && strings.Contains(v, "/")
	case []any:
		return slices.ContainsFunc(v, climbs)
	case []string:
		return slices.ContainsFunc(v, func(s string) bool { return climbs(s) })
	case map[string]any:
		for _, e := range v {
			if climbs(e) {
				return true
			}
		}
	}
	return false
}

// oddKey returns the first argument name, in order, that is not an identifier.
func oddKey(args vaglio.Args) (first string, found bool) {
	for key := range args {
		if !isIdentifier(key) && (!found || key < first) {
			first, found = key, true
		}
	}
	return first, found
}

// isIdentifier reports whether a key matches ^[a-zA-Z_][a-zA-Z0-9_]*$ as in Python, which ignores
// a final newline.
func isIdentifier(key string) bool {
	key = strings.TrimSuffix(key, "\n")
	for i := range len(key) {
		c := key[i]
		letter := c == '_' || ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z')
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return key != ""
}
