package model

import (
	"errors"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
)

// The errors of [Object], none of which quotes the answer.
var (
	errEmpty   = errors.New("the answer is empty")
	errProse   = errors.New("the answer is not one JSON object")
	errFences  = errors.New("the answer has more than one fenced block")
	errInvalid = errors.New("the answer is not one valid JSON object: a key stands twice, or it is not JSON")
)

// Object returns the members of the one JSON object that an answer consists of: its whole text, or
// the content of its only fenced block, whatever surrounds that. Members are as the model wrote
// them.
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

// fenced returns the content of the fenced block in a text, or the text itself if there is none. A
// fence that is opened and closed on one line, or never closed, does not count.
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
