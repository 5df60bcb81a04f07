package unfold

import (
	"regexp"
	"slices"
	"strings"
)

// The ways in which programs give a name something.
var (
	assigned = regexp.MustCompile(`\b([A-Za-z_]\w*)\s*(?::\s*[\w.<>?\[\]]+\s*)?[:+]?=\s*(?:try\s+|await\s+)?`)
	looped   = regexp.MustCompile(`\bfor(?:each)?\s*\(?\s*(?:[\w<>\[\]?.]+\s+)*?(\w+)\s*(?::|\bin\b)\s*`)
	lambda   = regexp.MustCompile(`\.\w+\s*(?:\(\s*\{|\(|\{)\s*\(?\s*(?:[\w<>]+\s+)?(\w+)\s*\)?\s*(?:->|=>|\bin\b)`)
	itself   = regexp.MustCompile(`\.\w+\s*\{`)
	captured = regexp.MustCompile(`\)\s*\|\*?(\w+)\|`)
	defined  = regexp.MustCompile(`\b(\w+)\s*\(([^()]*)\)[ \t]*` +
		`(?:(?:(?:throws\s|->|:|!)[\w.,?<>\[\]! ]+|\w+)?\s*\{|(?::[ \w.?<>]+)?=>?)`)
	returned = regexp.MustCompile(`\breturn\s+`)
	tempDir  = regexp.MustCompile(`@TempDir\s+(?:\w+\s+)*(\w+)`)
	callee   = regexp.MustCompile(`\b(\w+)\s*\(`)
	visitor  = regexp.MustCompile(`^(?:visit|(?:pre|post)Visit)`)
	keyword  = regexp.MustCompile(`^(?:if|for|foreach|while|switch|when|catch|using|lock|synchronized|return|new)$`)
)

func (s *source) hold(name, expr string) {
	known := s.held[name]
	if len(expr) >= maxText {
		s.cut[name] = true
	}
	if expr = strings.TrimSpace(expr[:min(len(expr), maxText)]); expr == "" || expr[0] == '@' || slices.Contains(known, expr) {
		return
	}
	if len(known) == maxWays {
		s.lacks(quoted.MatchString(expr))
		return
	}
	s.held[name] = append(known, expr)
}

// names finds what each name is given.
func (s *source) names() {
	for _, re := range []*regexp.Regexp{assigned, looped} {
		for _, m := range re.FindAllStringSubmatchIndex(s.bare, -1) {
			if rest := s.bare[m[1]:]; re == looped || !strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, ">") {
				s.hold(s.bare[m[2]:m[3]], s.text[m[1]:s.end(m[1])])
			}
		}
	}
	s.handedOn()
	for _, m := range callee.FindAllStringSubmatchIndex(s.bare, -1) {
		name := s.bare[m[2]:m[3]]
		s.called[name] = append(s.called[name], m[1])
	}
	for _, m := range defined.FindAllStringSubmatchIndex(s.bare, -1) {
		if name := s.bare[m[2]:m[3]]; !keyword.MatchString(name) && s.kind(name) == None {
			s.function(name, s.bare[m[4]:m[5]], m[2], m[1])
		}
	}
}

// handedOn finds what the parameters are given of functions without a name, and of what frameworks call.
func (s *source) handedOn() {
	for _, re := range []*regexp.Regexp{lambda, itself} {
		for _, m := range re.FindAllStringSubmatchIndex(s.bare, -1) {
			name, object := "it", s.text[s.before(m[0]):m[0]]
			if re == lambda {
				name = s.bare[m[2]:m[3]]
			}
			s.hold(name, object)
		}
	}
	for _, m := range captured.FindAllStringSubmatchIndex(s.bare, -1) {
		if open, ok := s.opens[m[0]]; ok {
			s.hold(s.bare[m[2]:m[3]], s.text[open+1:m[0]])
		}
	}
	for _, m := range tempDir.FindAllStringSubmatch(s.bare, -1) {
		s.hold(m[1], `createTempDirectory("t")`)
	}
}

// function finds what a function returns, and what calls give its parameters.
func (s *source) function(name, params string, at, body int) {
	if s.bare[body-1] != '{' {
		s.hold(name+"(", s.text[body:s.end(body)])
	} else if end := s.closes[body-1]; end > body && s.spend(end-body) {
		for _, m := range returned.FindAllStringIndex(s.bare[body:end], maxWays+1) {
			s.hold(name+"(", s.text[body+m[1]:s.end(body+m[1])])
		}
	}
	called := name
	if visitor.MatchString(name) {
		called = "walkFileTree"
	}
	for _, call := range s.called[called] {
		if call > at && call <= body {
			continue
		}
		if !s.spend(maxWays) {
			return
		}
		s.given(params, s.arguments(call))
	}
}

// given gives the parameters of a function what a call hands it.
func (s *source) given(params string, args []string) {
	for i, param := range strings.Split(params, ",") {
		param, _, _ = strings.Cut(param, ":")
		if words := strings.Fields(param); i < len(args) && len(words) > 0 {
			s.hold(words[len(words)-1], args[i])
		}
	}
}

var argumentName = regexp.MustCompile(`^\s*\w+(?:\s+=|:)\s*([^:=])`)

// arguments returns the arguments of a call behind its bracket.
func (s *source) arguments(from int) (args []string) {
	for from < len(s.bare) && len(args) < maxWays {
		end := s.end(from)
		args = append(args, argumentName.ReplaceAllString(s.text[from:end], "$1"))
		if end >= len(s.bare) || s.bare[end] != ',' {
			break
		}
		from = end + 1
	}
	s.lacks(len(args) == maxWays)
	return args
}

// end returns where an expression ends that begins at a place.
func (s *source) end(from int) int {
	for i := from; i < len(s.bare) && i-from < maxText && s.spend(1); i++ {
		switch c := s.bare[i]; c {
		case '(', '[', '{':
			closed, ok := s.closes[i]
			if !ok || c == '{' && s.isBlock(from, i) {
				return i
			}
			i = closed
		case ')', ']', '}', ';', ',':
			return i
		case '\n':
			if s.lineEnds(from, i) {
				return i
			}
		}
	}
	return min(len(s.bare), from+maxText)
}

// isBlock reports whether a brace behind an expression that begins at a place opens a block.
func (s *source) isBlock(from, at int) bool {
	return strings.HasSuffix(strings.TrimRight(s.bare[from:at], " "), ")") && s.bare[at-1] == ' ' && s.bare[from] != '('
}

// lineEnds reports whether an expression that begins at a place ends with the line that ends at another.
func (s *source) lineEnds(from, at int) bool {
	next := strings.TrimLeft(s.bare[at:min(at+maxText, len(s.bare))], " \n\t")
	last := strings.TrimRight(s.bare[from:at], " \t")
	return last != "" && strings.IndexByte("(,+=?:&|.", last[len(last)-1]) < 0 && (next == "" || strings.IndexByte(".?:+&|", next[0]) < 0)
}

// angled matches words between angle brackets, which some languages take for a list of texts, tilded the same in Elixir.
var (
	angled = regexp.MustCompile(`<\s*([\w./~*-]+(?:[ \t]+[\w./~*-]+)*)\s*>`)
	tilded = regexp.MustCompile(`~[wW](?:\([^)]*\)|\[[^\]]*\]|\{[^}]*\}|<[^>]*>|\|[^|]*\||/[^/]*/|"[^"]*")`)
)

// apostrophes matches texts and comments where a text may stand between single quotes.
var apostrophes = regexp.MustCompile(`(?s)""".*?"""|'''.*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|//[^\n]*|/\*.*?\*/`)

// Requoted returns a program with the quotes that its language alone has replaced by common ones.
func Requoted(src string, has func(flag string) bool) string {
	if has("m4quotes") {
		return strings.NewReplacer("`", `"`, "'", `"`).Replace(src)
	}
	if has("apostrophes") {
		return apostrophes.ReplaceAllStringFunc(src, func(q string) string {
			if q[0] != '\'' || strings.HasPrefix(q, "'''") {
				return q
			}
			return `"` + strings.ReplaceAll(strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`), `"`, `\"`) + `"`
		})
	}
	lists := tilded
	if has("angles") {
		lists = angled
	} else if !has("tildes") {
		return src
	}
	return lists.ReplaceAllStringFunc(src, func(list string) string {
		list = strings.TrimLeft(list[:len(list)-1], "~wW")
		return ` "` + strings.Join(strings.Fields(list[1:]), `" "`) + `" `
	})
}

// filled puts what the names in a text stand for in their place.
func (s *source) filled(word string, n int, most *int, within []string) string {
	word = template.ReplaceAllStringFunc(word, func(t string) string {
		name := strings.TrimSuffix(strings.Trim(t, `$\{}()`), ".path")
		if value, ok := s.value(name, n, most, within); ok && (quoted.MatchString(value) || s.isPath(value)) {
			return `" + ` + value + ` + "`
		}
		return t
	})
	return strings.TrimPrefix(word, `"" + `) // no step of a path is empty
}
