package mask

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/rows"
)

// operandTable says where programs take secrets by position.
//
//go:embed operands.txt
var operandTable string

// taker is a program that takes secrets by position.
type taker struct {
	// words must follow the program, options apart.
	words []string
	forms []form
}

// form is how a program takes a secret.
type form struct {
	// option is the option that the secret belongs to, or on which it depends;
	// empty for forms that need none.
	option string
	where  where
	// sign begins the secret in the word, 0 where it is the whole word.
	sign byte
	// number is an operand's, the first of which is 1.
	number int
}

// where is where a secret stands.
type where int

const (
	behind   where = iota // behind its option
	glued                 // glued to it
	named                 // behind a name
	values                // behind each name and equals sign
	lastWord              // at the end
	operand               // in an operand, by its number
	signIn                // in an operand of who logs in
	pairs                 // behind each equals sign of a word
	stdin                 // in what is handed in
	none                  // nowhere: what the option takes is no secret
)

// takers are the lines of the table, by program.
//
//nolint:gochecknoglobals // Read once, then only looked at.
var takers = sync.OnceValue(readTakers)

func readTakers() map[string][]taker {
	all := map[string][]taker{}
	for _, line := range rows.Of(operandTable) {
		programs, forms, _ := strings.Cut(line, "|")
		for program := range strings.SplitSeq(programs, ",") {
			words := strings.Fields(program)
			one := taker{words: words[1:]}
			for text := range strings.FieldsSeq(forms) {
				one.forms = append(one.forms, formOf(text))
			}
			all[words[0]] = append(all[words[0]], one)
		}
	}
	return all
}

// formOf reads a form of the table.
func formOf(text string) form {
	if number, ok := strings.CutPrefix(text, "@"); ok && isDigit(number[0]) {
		return form{where: operand, number: int(number[0] - '0')}
	}
	for _, ending := range []struct {
		text  string
		where where
		sign  byte
	}{
		{"@named", named, 0},
		{"@values", values, '='},
		{"@last:", lastWord, ':'},
		{"@last", lastWord, 0},
		{"@login:", signIn, ':'},
		{"@login/", signIn, '/'},
		{"<:", stdin, ':'},
		{"<", stdin, 0},
		{"*", glued, 0},
		{"!", none, 0},
		{";", pairs, 0},
		{":", behind, ':'},
		{",", behind, ','},
		{"%", behind, '%'},
		{"=", behind, '='},
	} {
		if option, ok := strings.CutSuffix(text, ending.text); ok {
			return form{option: option, where: ending.where, sign: ending.sign}
		}
	}
	return form{option: text}
}

// operandLiterals are those of which one stands in every text that the table is
// about.
func operandLiterals() []string {
	var all []string
	for program, list := range takers() {
		for _, one := range list {
			longest := program
			for _, word := range one.words {
				if len(word) > len(longest) {
					longest = word
				}
			}
			if len(longest) < len("mysql") {
				longest += " "
			}
			all = append(all, strings.ToLower(longest))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// gives reports whether a word is an option that the word behind belongs to.
func (t taker) gives(word string) bool {
	return slices.ContainsFunc(t.forms, func(f form) bool {
		return word == f.option && (f.where == behind || f.where == none) && word[0] == '-'
	})
}

// met reports whether a word is the option on which a form depends, alone or, of one
// letter, among others.
// One that ends in a dot or an equals sign stands for all that begin so.
func (f form) met(word string) bool {
	if n := len(f.option); n > 0 && strings.IndexByte(".=", f.option[n-1]) >= 0 {
		return strings.HasPrefix(word, f.option)
	}
	return word == f.option || len(f.option) == 2 && len(word) > 2 && word[0] == '-' && word[1] != '-' && strings.Contains(word, f.option[1:])
}

// end returns where a word's option ends that is the form's, 0 where it has another. A
// letter behind which a sign is looked for may end a row of letters.
func (f form) end(word string) int {
	if strings.HasPrefix(word, f.option) {
		return len(f.option)
	}
	if f.sign != 0 && len(f.option) == 2 && len(word) <= 5 && strings.HasSuffix(word, f.option[1:]) && word[0] == '-' && isName(word[1:]) {
		return len(word)
	}
	return 0
}
