package shell

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

// maxPattern is the longest value, and the longest pattern, in bytes, on which
// patterns are tried.
const maxPattern = 4096

// patternExpr spells a word as a regular expression; false if the word is not known
// or uses extended patterns.
func patternExpr(w Word, mode pattern.Mode) (string, bool) {
	if w.Size() > maxPattern {
		return "", false
	}
	var b strings.Builder
	for _, p := range w.Parts() {
		switch {
		case p.Kind == PartText:
			b.WriteString(pattern.QuoteMeta(p.Text, 0))
		case p.Kind == PartGlob && strings.IndexByte("*?[", p.Text[0]) >= 0 && !strings.HasSuffix(p.Text, ")"):
			b.WriteString(p.Text)
		default:
			return "", false
		}
	}
	expr, err := pattern.Regexp(b.String(), mode)
	return expr, err == nil
}

// compile makes of a word an expression of a form.
func compile(w Word, mode pattern.Mode, form string) (*regexp.Regexp, bool) {
	expr, ok := patternExpr(w, mode)
	if !ok {
		return nil, false
	}
	re, err := regexp.Compile(fmt.Sprintf(form, expr))
	return re, err == nil
}

// trim evaluates ${x#p}, ${x##p}, ${x%p} and ${x%%p}.
func (r *reader) trim(pat, w Word, op syntax.ParExpOperator, name string) Word {
	suffix := op == syntax.RemSmallSuffix || op == syntax.RemLargeSuffix
	s, known := w.Text()
	if !known {
		return trimKnownEnd(pat, w, suffix, name)
	}
	re, ok := endPattern(pat, op)
	if !ok || len(s) > maxPattern || !r.step(nil, len(s)*(1+pat.Size()/partSize)/8) {
		return unknown(name)
	}
	if at := re.FindStringSubmatchIndex(s); at != nil {
		s = s[:at[2]] + s[at[3]:]
	}
	return Text(s)
}

// endPattern finds what an operator removes of a text.
func endPattern(pat Word, op syntax.ParExpOperator) (*regexp.Regexp, bool) {
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
	return compile(pat, mode, form)
}

// trimKnownEnd removes literal text from the known end of a word.
func trimKnownEnd(pat, w Word, suffix bool, name string) Word {
	text, ok := pat.Text()
	switch {
	case !ok:
		return unknown(name)
	case !suffix && strings.HasPrefix(w.Prefix(), text):
		return w.Cut(len(text))
	case !suffix || !strings.HasSuffix(w.Suffix(), text):
		return w
	}
	parts := slices.Clone(w.parts)
	last := &parts[len(parts)-1]
	last.Text = strings.TrimSuffix(last.Text, text)
	return NewWord(parts...)
}

// replace evaluates ${x/p/w}, ${x//p/w}, ${x/#p/w} and ${x/%p/w}.
func (r *reader) replace(f *frame, p *syntax.ParamExp, w Word) Word {
	pat, with := r.word(f, p.Repl.Orig), r.text(f, p.Repl.With)
	s, known := w.Text()
	re, anchored, ok := findPattern(pat, !p.Repl.All)
	if !known || !ok || len(s) > maxPattern || !r.step(f, 100+len(s)) {
		return unknown(p.Param.Value)
	}
	n := 1
	if p.Repl.All {
		n = -1
	}
	var out builder
	last := 0
	for _, m := range re.FindAllStringIndex(s, n) {
		if m[0] == m[1] && !anchored {
			continue
		}
		out.addText(s[last:m[0]])
		out.addWord(with)
		last = m[1]
	}
	out.addText(s[last:])
	return out.word()
}

// findPattern finds a pattern in a text: at its beginning behind a #, at its end
// behind a %, if that may be.
func findPattern(pat Word, mayAnchor bool) (re *regexp.Regexp, anchored, ok bool) {
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
	if re, ok = compile(pat, 0, form); ok {
		re.Longest() // as the shell does
	}
	return re, anchored, ok
}

// globs are what programs expand by themselves in the names of files.
var globs = regexp.MustCompile(`[*?]|\[[^\]]+\]`)

// Globs are the parts of a pattern of names of files.
func Globs(s string) []Part {
	var out []Part
	from := 0
	for _, at := range globs.FindAllStringIndex(s, -1) {
		out = append(out, Part{Text: s[from:at[0]]}, Part{Kind: PartGlob, Text: s[at[0]:at[1]]})
		from = at[1]
	}
	return append(out, Part{Text: s[from:]})
}
