package model

import (
	"errors"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
)

// The errors of [Object], in words that hold nothing of the answer.
var (
	errEmpty   = errors.New("the answer is empty")
	errProse   = errors.New("the answer is not one JSON object")
	errFences  = errors.New("the answer has more than one fenced block")
	errInvalid = errors.New("the answer is not one valid JSON object: a key stands twice, or it is no JSON")
)

// Object is the one JSON object that an answer is: its whole text, or what
// stands in exactly one fenced block, with anything around that. Its members are
// as the model wrote them.
func Object(text string) (map[string]strictjson.Value, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, errEmpty
	}
	inner, err := fenced(text)
	if err != nil {
		return nil, err
	}
	inner = strings.TrimSpace(inner)
	if !strings.HasPrefix(inner, "{") || !strings.HasSuffix(inner, "}") {
		return nil, errProse
	}
	var members map[string]strictjson.Value
	if err := strictjson.UnmarshalLoose([]byte(inner), &members); err != nil {
		return nil, errInvalid // The library's error may quote the model.
	}
	return members, nil
}

// fence is the shortest run of backticks that opens or closes a block.
const fence = "```"

// fenced is what stands between the fences of a text, or the text itself. A fence
// that is opened and closed in one line, or never closed, is none.
func fenced(text string) (string, error) {
	_, after, open := strings.Cut(text, fence)
	if !open {
		return text, nil
	}
	_, block, lines := strings.Cut(after, "\n")
	if !lines {
		return text, nil
	}
	block, rest, closed := strings.Cut(block, fence)
	if !closed {
		return text, nil
	}
	if strings.Contains(strings.TrimLeft(rest, "`"), fence) {
		return "", errFences
	}
	return block, nil
}
