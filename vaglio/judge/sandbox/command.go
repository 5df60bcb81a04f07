package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// longestCommand is the maximum length of a command, in bytes of all its words.
const longestCommand = 32 << 10

// SplitCommand parses a command line that is one plain command: a program and its arguments, quoted
// where necessary, and nothing that a shell would interpret. The error says what a shell would have
// done.
func SplitCommand(line string) ([]string, error) {
	if len(line) > longestCommand || strings.ContainsRune(line, 0) {
		return nil, fmt.Errorf("the command has a zero byte or more than %d bytes", longestCommand)
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, fmt.Errorf("no shell would read it: %w", err)
	}
	words, err := plainWords(file)
	if err != nil {
		return nil, err
	}
	for _, word := range words {
		if err := literal(word); err != nil {
			return nil, err
		}
	}
	// All that is left is to unquote the words.
	argv, err := expand.Fields(&expand.Config{}, words...)
	if err != nil {
		return nil, fmt.Errorf("no shell would read it: %w", err)
	}
	if len(argv) != len(words) {
		return nil, errors.New("a shell would make other words of it")
	}
	return argv, nil
}

// plainWords returns the words of a line that is exactly one command.
func plainWords(file *syntax.File) ([]*syntax.Word, error) {
	switch n := len(file.Stmts); {
	case n == 0:
		return nil, errors.New("it is empty")
	case n > 1:
		return nil, errors.New("it is more than one command")
	}
	stmt := file.Stmts[0]
	call, plain := stmt.Cmd.(*syntax.CallExpr)
	for _, c := range []struct {
		wrong bool
		why   string
	}{
		{len(stmt.Redirs) > 0, "it has a redirection"},
		{stmt.Background || stmt.Coprocess || stmt.Disown || stmt.Negated || stmt.Semicolon.IsValid(), "it has an operator after or before it"},
		{!plain, "it is more than a program and its arguments"},
		{plain && len(call.Assigns) > 0, "it sets a variable"},
		{hasComment(file), "it has a comment"},
	} {
		if c.wrong {
			return nil, errors.New(c.why)
		}
	}
	return call.Args, nil
}

// hasComment reports whether a line contains a comment.
func hasComment(file *syntax.File) bool {
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if _, is := n.(*syntax.Comment); is {
			found = true
		}
		return true
	})
	return found
}

// literal returns an error unless a word is only text and quotes.
func literal(word *syntax.Word) error {
	if syntax.SplitBraces(word) {
		return errors.New("it has a { outside of quotes; quote it")
	}
	for i, part := range word.Parts {
		if err := literalPart(part, i == 0); err != nil {
			return err
		}
	}
	return nil
}

// literalPart does the same for one part of a word.
func literalPart(part syntax.WordPart, first bool) error {
	switch part := part.(type) {
	case *syntax.Lit:
		if first && strings.HasPrefix(part.Value, "~") {
			return errors.New("it has a ~; write the folder")
		}
		if pattern(part.Value) {
			return errors.New("it has a pattern of names (* ? [); quote it, or name the files")
		}
	case *syntax.SglQuoted:
		if part.Dollar {
			return errors.New("it has a $'' text")
		}
	case *syntax.DblQuoted:
		if part.Dollar || slices.ContainsFunc(part.Parts, func(p syntax.WordPart) bool { _, text := p.(*syntax.Lit); return !text }) {
			return errors.New("it has a $ expansion between double quotes")
		}
	default:
		return errors.New("it has an expansion ($, `, <( or a pattern); a command is only words")
	}
	return nil
}

// pattern reports whether unquoted text has a character that makes a shell match file names.
func pattern(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return true
		}
	}
	return false
}

// readAllowed parses the list of allowed commands.
func readAllowed(list []string) ([][]string, error) {
	all := make([][]string, len(list))
	for i, line := range list {
		argv, err := SplitCommand(line)
		if err != nil {
			return nil, ConfigError{fmt.Sprintf("Allow[%d]", i), fmt.Sprintf("is %q: %s; it is a program and perhaps its first arguments", line, err)}
		}
		if strings.Contains(argv[0], "/") || argv[0] == "" {
			return nil, ConfigError{fmt.Sprintf("Allow[%d]", i), fmt.Sprintf("is %q; a program is a name without folders, as it is installed", line)}
		}
		all[i] = argv
	}
	return all, nil
}

// isAllowed reports whether a command begins with the words of an allowed one.
func (s *Sandbox) isAllowed(argv []string) bool {
	return slices.ContainsFunc(s.allowed, func(words []string) bool {
		return len(argv) >= len(words) && slices.Equal(argv[:len(words)], words)
	})
}

// allowedInWords lists the allowed commands.
func (s *Sandbox) allowedInWords() string {
	if len(s.allowed) == 0 {
		return "no command at all"
	}
	lines := make([]string, len(s.allowed))
	for i, words := range s.allowed {
		lines[i] = strings.Join(words, " ")
	}
	return strings.Join(lines, ", ")
}
