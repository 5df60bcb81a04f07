package word

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

// MaxPattern is the size in bytes of the longest value and the longest pattern that are matched.
const MaxPattern = 4096

// Compile turns a word that is a pattern into a regular expression, inserted into form; false if the word is unknown or uses extended patterns.
func Compile(w Word, mode pattern.Mode, form string) (*regexp.Regexp, bool) {
	if w.Size() > MaxPattern || extended.MatchString(w.String()) {
		return nil, false
	}
	var b strings.Builder
	for _, p := range w.Parts() {
		switch {
		case p.Kind == PartText:
			b.WriteString(pattern.QuoteMeta(p.Text, 0))
		case p.Kind == PartGlob && strings.IndexByte("*?[", p.Text[0]) >= 0 && !strings.HasSuffix(p.Text, ")"):
			b.WriteString(p.Text)
		default:
			return nil, false
		}
	}
	expr, err := pattern.Regexp(b.String(), mode)
	if err != nil {
		return nil, false
	}
	re, err := regexp.Compile(fmt.Sprintf(form, expr))
	return re, err == nil
}

// extended finds what is an extended pattern where the shell allows them.
var extended = regexp.MustCompile(`[?*+@!]\(`)

// LastStep returns what stands behind the last slash of a pattern of file names.
func LastStep(w Word) (Word, bool) {
	parts := w.Parts()
	for i, p := range slices.Backward(parts) {
		at := strings.LastIndexByte(p.Text, '/')
		if p.Kind != PartText && p.Kind != PartGlob || at >= 0 && p.Kind == PartGlob {
			break
		}
		if at >= 0 {
			return New(append([]Part{{Text: p.Text[at+1:]}}, parts[i+1:]...)...), true
		}
	}
	return Word{}, false
}

// LastName returns the last step of a pattern of file names without a suffix, if it is known whether they have that.
func LastName(w Word, suffix string) (Word, bool) {
	last, ok := LastStep(Glue(Text("/"), w.MapSuffix(func(s string) string { return strings.TrimRight(s, "/") })))
	ends := last.Suffix()
	if !ok || last.Is("") || suffix != ends && strings.HasSuffix(suffix, ends) && !strings.HasSuffix(last.String(), "*") {
		return Word{}, false
	}
	return last.MapSuffix(func(s string) string { return strings.TrimSuffix(s, suffix) }), true
}

// Folder returns what stands before the last slash of a path of which something follows that slash. A part is passed
// over if no slash can be in it: text, a pattern of names, or what isStep says so of.
func Folder(w Word, isStep func(Part) bool) (Word, bool) {
	parts, names := w.Parts(), false
	for i, p := range slices.Backward(parts) {
		at := strings.LastIndexByte(p.Text, '/')
		switch {
		case p.Kind == PartUnknown && !isStep(p), p.Kind == PartGlob && at >= 0:
			return Word{}, false
		case at < 0:
			names = names || p.Kind == PartText
			continue
		case !names && at == len(p.Text)-1:
			return Word{}, false // what follows may be empty
		}
		before := strings.TrimRight(p.Text[:at], "/")
		if i == 0 && before == "" {
			return Text("/"), true
		}
		return New(append(slices.Clone(parts[:i]), Part{Text: before})...), true
	}
	return Word{}, false
}

// AtEnd returns the expression for what an operator removes from a text.
func AtEnd(pat Word, op syntax.ParExpOperator) (*regexp.Regexp, bool) {
	mode, form := pattern.Mode(0), "^((?:%s))"
	switch op {
	case syntax.RemSmallPrefix:
		mode = pattern.Shortest
	case syntax.RemSmallSuffix:
		mode, form = pattern.Shortest, "^(?s:.*)((?:%s))$" // the last place where the pattern matches the rest
	case syntax.RemLargeSuffix:
		form = "((?:%s))$"
	default:
	}
	return Compile(pat, mode, form)
}

// Within returns the expression that finds a pattern in a text. If mayAnchor is set, a leading # anchors it at the start and a leading % at the end.
func Within(pat Word, mayAnchor bool) (re *regexp.Regexp, anchored, ok bool) {
	form := "(?:%s)"
	if pre := pat.Prefix(); mayAnchor && strings.HasPrefix(pre, "#") {
		form, anchored = "^(?:%s)", true
	} else if mayAnchor && strings.HasPrefix(pre, "%") {
		form, anchored = "(?:%s)$", true
	}
	if anchored {
		pat = pat.Cut(1)
	}
	if pat.Is("") && !anchored {
		return nil, false, false
	}
	if re, ok = Compile(pat, 0, form); ok {
		re.Longest() // as the shell does
	}
	return re, anchored, ok
}

// globs matches what programs themselves expand in file names.
var globs = regexp.MustCompile(`[*?]|\[[^\]]+\]`)

// Globs splits a file name pattern into its parts.
func Globs(s string) []Part {
	if !strings.ContainsAny(s, "*?[") {
		return []Part{{Text: s}}
	}
	var out []Part
	from := 0
	for _, at := range globs.FindAllStringIndex(s, -1) {
		out = append(out, Part{Text: s[from:at[0]]}, Part{Kind: PartGlob, Text: s[at[0]:at[1]]})
		from = at[1]
	}
	return append(out, Part{Text: s[from:]})
}
