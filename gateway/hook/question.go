package hook

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// maxAnswer limits what we pass on of an agent's words as its answer, in characters.
const maxAnswer = 2000

// saidSince returns what the agent wrote since the given time, in order, according to a
// transcript like Claude Code's; "" if that cannot be determined.
func saidSince(path string, since time.Time) string {
	f, size := openTranscript(path)
	if f == nil {
		return ""
	}
	defer f.Close()
	var said []string
	if eachLine(f, size, func(line []byte) bool {
		words, over := agentWords(line, since)
		if words != "" {
			said = append(said, words)
		}
		return over
	}) != nil {
		return ""
	}
	slices.Reverse(said)
	text := []rune(strings.Join(said, "\n"))
	return strings.ToValidUTF8(strings.ReplaceAll(string(text[:min(len(text), maxAnswer)]), "\x00", "�"), "�")
}

// agentWords returns what the agent itself wrote in one line of the transcript, and whether
// the line is older than since. An agent's line without a time counts as older: what it said
// earlier must not pass for an answer.
func agentWords(line []byte, since time.Time) (words string, over bool) {
	var e struct {
		entry
		At time.Time `json:"timestamp"`
	}
	if strictjson.UnmarshalLoose(line, &e) != nil || e.At.IsZero() {
		return "", bytes.Contains(line, []byte(`"assistant"`))
	}
	if e.At.Before(since) {
		return "", true
	}
	if e.Type != "assistant" || e.Message.Role != "assistant" || e.Meta || e.Side {
		return "", false
	}
	var all []string
	for _, b := range e.blocks() {
		if text := strings.TrimSpace(b.Text); b.Type == "text" && text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, "\n"), false
}
