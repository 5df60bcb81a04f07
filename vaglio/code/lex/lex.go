// Package lex says what a token of a program is, in every language.
package lex

import "slices"

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens.
const (
	End Kind = iota
	Name
	String
	Number
	Op
)

// Token is one lexeme. The text of a string is its value, with marks for unknown parts.
type Token struct {
	Kind Kind
	// Line says that the token begins a line. The ";" for a line end has it, too.
	Line bool
	// Tight says that no blank precedes the token.
	Tight bool
	// Changes says that a name ends in an exclamation mark: the method changes its object.
	Changes bool
	// Group says that a bracket surrounds the parts of a text.
	Group bool
	// Perhaps says that the program may pass the token by, or come to it again.
	Perhaps bool
	Column  int32 // how far the line is indented
	// Match is the index of the counterpart of a bracket, or of a word that pairs with "end"; -1 if there is none.
	Match int
	Text  string
}

// Is reports whether a token is an operator: one of ops, if there are any.
func (t Token) Is(ops ...string) bool { return t.Kind == Op && among(ops, t.Text) }

// Word reports whether a token is a name: one of the words, if there are any.
func (t Token) Word(words ...string) bool { return t.Kind == Name && among(words, t.Text) }

func among(all []string, text string) bool { return len(all) == 0 || slices.Contains(all, text) }

// Quoted reports whether a token begins a text.
func (t Token) Quoted() bool { return t.Kind == String || t.Group && t.Text == "(" }

// Tokens are a program, or a part of one.
type Tokens []Token

// At returns the token at an index, or a zero token.
func (t Tokens) At(i int) Token {
	if i >= 0 && i < len(t) {
		return t[i]
	}
	return Token{}
}

// Over returns the index of the bracket that closes the one at i, or i.
func (t Tokens) Over(i int) int { return max(i, t.At(i).Match) }
