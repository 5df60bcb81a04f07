package install

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
)

// mistakeAt says where a file cannot be parsed and what belongs there. It never quotes the
// file, as the libraries' own errors do, because settings contain tokens.
func mistakeAt(line, column int, want string) error {
	return fmt.Errorf("cannot be read, and was left alone: line %d, column %d: want %s", line, column, want)
}

// parseJSON parses JSON with comments. All JSON files are read by it.
func parseJSON(data []byte) (*hujson.Value, error) {
	doc, err := hujson.Parse(data)
	if err == nil {
		return &doc, nil
	}
	var line, column int
	if _, scanned := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scanned != nil {
		line, column = 1, 1
	}
	return nil, mistakeAt(line, column, wantedJSON(err.Error()))
}

// wantedJSON says what belongs where the parser stopped. It recognises only the parts of the
// library's message that quote nothing.
func wantedJSON(said string) string {
	for _, row := range []struct{ mark, want string }{
		{"invalid literal", "a value: an object, a list, a text in double quotes, a number, true, false or null"},
		{"unexpected EOF", "the rest: the file ends too early"},
		{"(expecting ',' or '}')", "a comma or }"},
		{"(expecting ',' or ']')", "a comma or ]"},
		{"at start of object name", "a name in double quotes, or }"},
		{"after object name", "a colon"},
		{"after top-level value", "nothing more"},
		{"comment", "a comment in UTF-8"},
	} {
		if strings.Contains(said, row.mark) {
			return row.want
		}
	}
	return "a value"
}

// checkTOML reports where TOML has a mistake.
func checkTOML(data []byte) error {
	var v map[string]any
	err := toml.Unmarshal(data, &v)
	if err == nil {
		return nil
	}
	line, column := 1, 1
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column = wrong.Position()
	}
	return mistakeAt(line, column, "TOML, in which no key is given twice")
}

// parseYAML parses YAML.
func parseYAML(data []byte) (*ast.File, error) {
	f, err := parser.ParseBytes(data, 0)
	if err == nil {
		return f, nil
	}
	line, column := 1, 1
	if wrong, ok := errors.AsType[*yaml.SyntaxError](err); ok && wrong.Token != nil {
		line, column = wrong.Token.Position.Line, wrong.Token.Position.Column
	}
	return nil, mistakeAt(line, column, "YAML")
}
