// Package unfold puts what the names in a program stand for in the place of the names, for languages that are not
// followed: where a file is deleted that a variable, a loop or a parameter holds, the call says which one it is.
package unfold

import (
	"regexp"
	"slices"
	"strings"
)

// Kind says what a function does to files.
type Kind int

// The kinds of functions.
const (
	None   Kind = iota
	Acts        // on the file that its arguments name
	First       // on the file that its first argument names
	Object      // on the file that it is called on
	Below       // on the file that its first argument, if any, names below what it is called on
	Makes       // makes a path of its arguments
	Temp        // is the folder for temporary files
)

// bounds of what is unfolded.
const (
	maxCalls = 128     // that act on files
	maxWays  = 24      // what a name may be
	maxDepth = 8       // names that stand for names
	maxText  = 2000    // bytes of an expression
	maxWork  = 4 << 20 // bytes that are looked at
	maxFound = 128     // names in an expression
)

// Source returns a program in which calls that act on files say what they act on. What acts on the object that it is
// called on becomes a call of "*." and its name. The program is whole if all that was found was followed.
func Source(src string, kind func(name string) Kind) (unfolded string, whole bool) {
	s := &source{text: src, bare: Bare(src), kind: kind, held: map[string][]string{}, cut: map[string]bool{}, called: map[string][]int{}, left: maxWork}
	if !s.acts() {
		return src, true
	}
	s.lacks(strings.Contains(src, `\"""`)) // which ends a text in some languages only
	s.pair()
	s.names()
	left := maxCalls
	var more strings.Builder
	hidden := []byte(src)
	for _, m := range mentions.FindAllStringSubmatchIndex(s.bare, -1) {
		from, to := m[2], m[3]
		operand, name := s.operand(from, to, m[4])
		if operand == "" {
			continue
		}
		if left--; left < 0 {
			s.lacks(true)
			break
		}
		if !s.spend(len(s.closes)) {
			break
		}
		ways := s.ways(operand)
		if name == s.bare[from:to] && s.bare[m[4]] == '(' && len(ways) == 1 && ways[0] == operand {
			continue
		}
		for i := from; i < to; i++ { // it is read below instead
			hidden[i] = '_'
		}
		more.WriteString(s.calls(name, ways))
	}
	return string(hidden) + more.String(), !s.partial
}

// calls returns calls of a function with each of what its operand may be.
func (s *source) calls(name string, operands []string) string {
	var out strings.Builder
	for _, operand := range operands {
		if !strings.HasPrefix(name, "*") || s.isPath(operand) {
			out.WriteString("\n" + name + "(" + method.ReplaceAllString(operand, " $1") + ");")
		}
	}
	return out.String()
}

type source struct {
	text, bare string // bare is the text with the contents of its quotes blanked
	kind       func(name string) Kind
	opens      map[int]int // where what closes there opens
	closes     map[int]int
	held       map[string][]string // what names may be; with a bracket behind them, what functions return
	cut        map[string]bool     // names of which one was too long to be kept whole
	called     map[string][]int    // where functions are called: behind the bracket
	partial    bool                // something was not followed
	left       int                 // of maxWork
}

// acts reports whether the program mentions a function that acts on files.
func (s *source) acts() bool {
	return slices.ContainsFunc(words.FindAllString(s.bare, -1), func(name string) bool {
		is := s.kind(name)
		return is != None && is < Makes
	})
}

// spend notes work, and reports whether there may be more.
func (s *source) spend(n int) bool {
	s.left -= n
	s.lacks(s.left < 0)
	return s.left >= 0
}

var (
	words    = regexp.MustCompile(`[\w.:?!]*\w`)
	mentions = regexp.MustCompile(`([\w.:?!]*\w)\s*([(),}])`)
	quoted   = regexp.MustCompile(`"(?:\\.|[^"\\\n])*"`)
	// Texts of C# in which quotes are doubled come first, then texts of several lines: neither ends where others do.
	unsaid = regexp.MustCompile(`(?:@\$?|\$@)"(?:[^"]|"")*"|"""[ \t]*\r?\n(?s:.*?)"""|` +
		`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'|//[^\n]*|/\*(?s:.*?)\*/`)
	identifier = regexp.MustCompile(`"(?:\\.|[^"\\\n])*"|\b(?:this\.|self\.)?[A-Za-z_]\w*`)
	template   = regexp.MustCompile(`\$\{(\w+)(?:\.path)?\}|\$(\w+)|\\\((\w+)(?:\.path)?\)|\{(\w+)\}`)
	folded     = regexp.MustCompile(`([^\\])"\s*\+\s*"`)
	method     = regexp.MustCompile(`(\.\w+\s*\()`)
	follows    = regexp.MustCompile(`^(?:[,+]|\.\w+\()\s*\w`)
	either     = regexp.MustCompile(`\?\s|\?\?|\?:|\belse\b|\borelse\b`)
)

// Bare returns a text with what stands in its quotes and comments blanked.
func Bare(src string) string {
	return unsaid.ReplaceAllStringFunc(src, func(q string) string {
		quote := q[:1]
		switch quote {
		case "/":
			quote = " "
		case "@", "$":
			quote = `"`
		}
		return quote + strings.Repeat(" ", len(q)-2) + quote
	})
}

func (s *source) pair() {
	s.opens, s.closes = map[int]int{}, map[int]int{}
	var stack []int
	for i := range len(s.bare) {
		switch c := s.bare[i]; c {
		case '(', '[', '{':
			stack = append(stack, i)
		case ')', ']', '}':
			if n := len(stack) - 1; n >= 0 {
				s.opens[i], s.closes[stack[n]] = stack[n], i
				stack = stack[:n]
			}
		}
	}
}

// operand returns what a call at a place acts on, and the name of that call; "" if it acts on no file.
func (s *source) operand(from, to, next int) (operand, name string) {
	full := s.bare[from:to]
	at := strings.LastIndexAny(full, ".:") + 1
	is, called := s.kind(full), s.bare[next] == '('
	switch other := s.alias(full); {
	case other != "" && called:
		return s.first(next), other
	case is == Acts && called:
		return s.inBrackets(next), full
	case is == First && called:
		return s.first(next), full
	case is == Acts || is == First: // handed on by its name
		object, others := s.handed(from)
		return object + ", " + others, full
	case is == Object || is == Below:
		return s.object(from, to, next, is), "*." + full[at:]
	}
	return "", ""
}

// object returns what a method is called on, and what its first argument names below that.
func (s *source) object(from, to, next int, is Kind) string {
	full := s.bare[from:to]
	dot := from + strings.LastIndexAny(full, ".:")
	switch called := s.bare[next] == '('; {
	case strings.Contains(full, "::"):
		object, others := s.handed(from)
		return object + ", " + others
	case !called:
		return ""
	case dot < from:
		return s.within(from)
	}
	object := strings.TrimRight(s.text[s.before(dot):dot], ".?!")
	if within := s.first(next); is == Below && within != "" {
		object += ", " + within
	}
	return object
}

// alias returns the function that a name stands for, "" if none.
func (s *source) alias(name string) string {
	for _, other := range s.held[name] {
		switch is := s.kind(other); is {
		case Acts, First:
			return other
		case Object, Below:
			return "*." + other[strings.LastIndexAny(other, ".:")+1:]
		default: // The others do nothing to files.
		}
	}
	return ""
}

// within returns the object of the block around a place, where a name stands for that of the object.
func (s *source) within(at int) string {
	open := s.around(at, "{")
	if open < 0 {
		return ""
	}
	end := len(strings.TrimRight(s.text[:open], " "))
	chain := s.text[s.before(end):end]
	if of, ok := strings.CutPrefix(chain, "with("); ok {
		return strings.TrimSuffix(of, ")")
	}
	return chain[:max(strings.LastIndexByte(chain, '.'), 0)]
}

// around returns where the innermost bracket around a place opens, -1 if there is none.
func (s *source) around(at int, brackets string) int {
	open := -1
	for o, c := range s.closes {
		if o < at && at < c && o > open && strings.IndexByte(brackets, s.bare[o]) >= 0 {
			open = o
		}
	}
	return open
}

// first returns the first argument in the brackets that open at a place.
func (s *source) first(open int) string { return append(s.arguments(open+1), "")[0] }

// inBrackets returns what stands in the brackets that open at a place.
func (s *source) inBrackets(open int) string {
	if end := s.closes[open]; end > open {
		s.lacks(end > open+maxText)
		return s.text[open+1 : min(end, open+maxText)]
	}
	return ""
}

// handed returns what the call is called on that a function is handed to, and what else that is handed.
func (s *source) handed(at int) (object, others string) {
	open := s.around(at, "([")
	if open < 0 {
		return "", ""
	}
	start := s.before(open)
	chain := s.text[start:open]
	return chain[:max(strings.LastIndexByte(chain, '.'), 0)], s.text[open+1 : at]
}

// before returns where the expression begins that ends at a place.
func (s *source) before(end int) int {
	for i := end; ; {
		first := max(0, end-maxText)
		blanks := first + len(strings.TrimRight(s.bare[first:max(i, first)], " \n\t"))
		if !s.spend(1) || i == 0 || blanks <= first {
			s.lacks(end-blanks >= maxText)
			return i
		}
		c := s.bare[i-1]
		open, closed := s.opens[i-1]
		switch {
		case blanks < i && s.goesOver(blanks, i):
			i = blanks
		case closed && c != '}':
			i = open
		case c == '"':
			i = max(strings.LastIndexByte(s.bare[:i-1], '"'), 0)
		case inNames.MatchString(s.bare[i-1 : i]):
			i--
		default:
			return i
		}
	}
}

// goesOver reports whether an expression goes on over the blanks between two places.
func (s *source) goesOver(from, to int) bool {
	return s.bare[from-1] == '.' || to < len(s.bare) && (s.bare[to] == '.' || s.bare[to] == '?')
}

var inNames = regexp.MustCompile(`[\w.:?!]`)

// ways returns what an expression may be: each of what its names hold in turn, and each text where it chooses.
func (s *source) ways(expr string) (out []string) {
	for n := range maxWays {
		most := 1
		way := s.below(folded.ReplaceAllString(s.expand(expr, n, &most, nil), "$1"))
		all := []string{way}
		if texts := quoted.FindAllString(way, maxWays); len(texts) > 1 && either.MatchString(Bare(way)) {
			all = append(all, texts...)
		}
		for _, w := range all {
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
		if n+1 >= most {
			break
		}
	}
	return out
}

// expand puts the nth of what each name in an expression may be in its place.
func (s *source) expand(expr string, n int, most *int, within []string) string {
	if len(within) > maxDepth || !s.spend(len(expr)) {
		s.lacks(true)
		return expr
	}
	var out strings.Builder
	from, found := 0, identifier.FindAllStringIndex(expr, maxFound)
	s.lacks(len(found) == maxFound)
	for _, at := range found {
		word := expr[at[0]:at[1]]
		switch {
		case s.isLong(out.Len()), at[0] > 0 && expr[at[0]-1] == '.', argumentName.MatchString(expr[at[0]:]):
			continue
		case word[0] == '"':
			word = s.filled(word, n, most, within)
		default:
			name := strings.TrimPrefix(strings.TrimPrefix(word, "this."), "self.")
			if strings.HasPrefix(expr[at[1]:], "(") {
				name += "("
			}
			value, ok := s.value(name, n, most, within)
			if !ok {
				continue
			}
			word = value
			if strings.HasSuffix(name, "(") {
				word += ", " // its arguments are behind it
			}
		}
		out.WriteString(expr[from:at[0]] + word)
		from = at[1]
	}
	return out.String() + expr[from:]
}

// isLong reports whether an expression is longer than any that is followed.
func (s *source) isLong(n int) bool {
	s.lacks(n > maxText)
	return n > maxText
}

// lacks notes that something of the program is not followed.
func (s *source) lacks(something bool) { s.partial = s.partial || something }

// value returns the nth of what a name may be.
func (s *source) value(name string, n int, most *int, within []string) (string, bool) {
	held := s.held[name]
	if len(held) == 0 || slices.Contains(within, name) {
		return "", false
	}
	*most = max(*most, len(held))
	s.lacks(s.cut[name])
	return s.expand(held[min(n, len(held)-1)], n, most, append(slices.Clone(within), name)), true
}

// below says of a path that it is below the folder for temporary files if something that is not known follows that.
func (s *source) below(way string) string {
	for _, m := range mentions.FindAllStringSubmatchIndex(way, maxFound) {
		if end := m[4]; s.kind(way[m[2]:m[3]]) == Temp || strings.HasSuffix(way[:m[3]], `"java.io.tmpdir`) {
			for end < len(way) && strings.IndexByte("() ", way[end]) >= 0 {
				end++
			}
			if rest := way[end:]; follows.MatchString(rest) && !quoted.MatchString(rest) {
				return way[:end] + `, "{}"` + rest
			}
		}
	}
	return way
}

// isPath reports whether an expression makes a path.
func (s *source) isPath(expr string) bool {
	return slices.ContainsFunc(mentions.FindAllString(Bare(expr)+")", maxFound), func(m string) bool {
		return s.kind(strings.TrimRight(m, " (),}\n\t")) >= Makes
	})
}
