package mask

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/rows"
)

// operandTable lists the programs that take secrets by position.
//
//go:embed operands.txt
var operandTable string

// taker is a program that takes secrets by position.
type taker struct {
	// words must follow the program, apart from options.
	words []string
	forms []form
}

// form is a way in which a program takes a secret.
type form struct {
	// option is the option whose value is the secret, or that must be present; it is empty
	// for forms that need none.
	option string
	where  where
	// sign precedes the secret within the word; 0 means that the whole word is the secret.
	sign byte
	// number is the operand's position, counting from 1.
	number int
}

// where says where a secret stands.
type where int

const (
	behind   where = iota // after its option
	glued                 // joined to its option
	named                 // after a secret's name
	values                // after the equals sign of each NAME=VALUE
	lastWord              // the last word
	operand               // an operand, by its number
	signIn                // an operand that holds a user's credentials
	pairs                 // after each equals sign of a word
	stdin                 // standard input
	none                  // nowhere: the option's value is not a secret
)

// takers returns the lines of the table by program.
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

// formOf parses a form of the table.
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

// operandLiterals returns literals, at least one of which occurs in every text that the
// table concerns.
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

// gives reports whether a word is an option whose value is the next word.
func (t taker) gives(word string) bool {
	return slices.ContainsFunc(t.forms, func(f form) bool {
		return word == f.option && (f.where == behind || f.where == none) && word[0] == '-'
	})
}

// met reports whether a word is the option on which a form depends, or, for a one-letter
// option, a group of letters that contains it. An option that ends in a dot or an equals
// sign covers every word that begins with it.
func (f form) met(word string) bool {
	if n := len(f.option); n > 0 && strings.IndexByte(".=", f.option[n-1]) >= 0 {
		return strings.HasPrefix(word, f.option)
	}
	return word == f.option || len(f.option) == 2 && len(word) > 2 && word[0] == '-' && word[1] != '-' && strings.Contains(word, f.option[1:])
}

// end returns where the form's option ends in a word, or 0 if the word does not have it. A
// one-letter option whose value has a sign may end a group of letters.
func (f form) end(word string) int {
	if strings.HasPrefix(word, f.option) {
		return len(f.option)
	}
	if f.sign != 0 && len(f.option) == 2 && len(word) <= 5 && strings.HasSuffix(word, f.option[1:]) && word[0] == '-' && isName(word[1:]) {
		return len(word)
	}
	return 0
}
