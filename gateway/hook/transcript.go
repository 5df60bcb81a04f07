package hook

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/regular"
	"github.com/metnos/vaglio/internal/strictjson"
)

const (
	// maxTail is how far back we read a transcript, in bytes: everything that the turn has
	// produced since follows the user's words.
	maxTail = 4 << 20
	// tailChunk is how much we read at a time, in bytes.
	tailChunk = 128 << 10
	// maxIntent is the maximum length of an intent, in characters.
	maxIntent = 4000
)

// intentOf returns the last thing that the user wrote, according to the client's transcript;
// "" if that cannot be determined. Judges weigh the call against it, so nothing that a tool,
// a model or the client itself wrote may pass for it.
func intentOf(path string) string {
	f, size := openTranscript(path)
	if f == nil {
		return ""
	}
	defer f.Close()
	words := ""
	if eachLine(f, size, func(line []byte) bool {
		words = userWords(line)
		return words != ""
	}) != nil {
		return "" // it is being rewritten
	}
	return bounded(words)
}

// openTranscript opens a client's transcript. f is nil if it cannot be read.
func openTranscript(path string) (f *os.File, size int64) {
	if !filepath.IsAbs(path) || filepath.Ext(path) != ".jsonl" {
		return nil, 0
	}
	f, err := regular.Open(path)
	if err != nil {
		return nil, 0
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, 0
	}
	return f, info.Size()
}

// eachLine calls found for each line, from the last backwards, until found returns true.
func eachLine(f io.ReaderAt, size int64, found func(line []byte) bool) error {
	var rest []byte // the unfinished line at the start of what was read
	for end := size; end > 0 && size-end < maxTail; {
		start := max(0, end-tailChunk)
		chunk := make([]byte, end-start, int(end-start)+len(rest))
		if _, err := f.ReadAt(chunk, start); err != nil {
			return fmt.Errorf("hook: read a transcript: %w", err)
		}
		chunk = append(chunk, rest...)
		for {
			i := bytes.LastIndexByte(chunk, '\n')
			if i < 0 {
				break
			}
			if found(chunk[i+1:]) {
				return nil
			}
			chunk = chunk[:i]
		}
		rest, end = chunk, start
		if start == 0 {
			found(rest)
		}
	}
	return nil
}

// entry is one line of Claude Code's transcript.
type entry struct {
	Type    string           `json:"type"`
	Meta    bool             `json:"isMeta"`
	Summary bool             `json:"isCompactSummary"`
	Side    bool             `json:"isSidechain"`
	Result  strictjson.Value `json:"toolUseResult"`
	Message struct {
		Role    string           `json:"role"`
		Content strictjson.Value `json:"content"`
	} `json:"message"`
}

// block is one part of a message.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// typed reports whether the client attributes the message to the user.
func (e *entry) typed() bool {
	return e.Type == "user" && e.Message.Role == "user" && !e.Meta && !e.Summary && !e.Side && len(e.Result) == 0
}

// blocks returns the message's parts. A message may also be a single text.
func (e *entry) blocks() []block {
	one := block{Type: "text"}
	if strictjson.UnmarshalLoose(e.Message.Content, &one.Text) == nil {
		return []block{one}
	}
	var several []block
	if strictjson.UnmarshalLoose(e.Message.Content, &several) != nil {
		return nil
	}
	return several
}

// userWords returns what the user wrote in the line, or "". The client also stores tool
// results, sub-agents' tasks and its own notices as user messages; they do not count.
func userWords(line []byte) string {
	if !bytes.Contains(line, []byte(`"user"`)) {
		return ""
	}
	var e entry
	if strictjson.UnmarshalLoose(line, &e) != nil || !e.typed() {
		return ""
	}
	var words []string
	for _, b := range e.blocks() {
		if b.Type == "tool_result" {
			return ""
		}
		text := strings.TrimSpace(b.Text)
		if b.Type == "text" && text != "" && !notice(text) {
			words = append(words, text)
		}
	}
	return strings.Join(words, "\n")
}

// notice reports whether the text comes from the client itself.
func notice(text string) bool {
	for _, mark := range []string{
		"<system-reminder>", "<command-", "<local-command-", "<bash-", "<ide_", "<task-notification>", "<user-prompt-submit-hook>",
		"[Request interrupted", "Caveat: The messages below",
	} {
		if strings.HasPrefix(text, mark) {
			return true
		}
	}
	return false
}

// bounded makes words an intent that the gate accepts.
func bounded(words string) string {
	words = strings.ReplaceAll(strings.ToValidUTF8(words, string(utf8.RuneError)), "\x00", string(utf8.RuneError))
	total := utf8.RuneCountInString(words)
	if total <= maxIntent {
		return words
	}
	remark := fmt.Sprintf(" [cut: %d characters in all]", total)
	keep := maxIntent - len(remark)
	for i := range words {
		if keep == 0 {
			return words[:i] + remark
		}
		keep--
	}
	return words
}

// endOf looks up the outcome of a call in Codex's transcript. known is false if there is none.
func endOf(path, call string) (o client.Outcome, known bool) {
	f, size := openTranscript(path)
	if f == nil || call == "" {
		return client.Outcome{}, false
	}
	defer f.Close()
	_ = eachLine(f, size, func(line []byte) bool {
		if !bytes.Contains(line, []byte(call)) {
			return false
		}
		var item struct {
			Payload struct {
				Type   string           `json:"type"`
				Call   string           `json:"call_id"`
				Output strictjson.Value `json:"output"`
			} `json:"payload"`
		}
		if strictjson.UnmarshalLoose(line, &item) != nil || item.Payload.Call != call || !strings.HasSuffix(item.Payload.Type, "_call_output") {
			return false
		}
		o, known = exitOf(plainText(item.Payload.Output)), true
		return true
	})
	return o, known
}

// openCall returns the only call in Codex's transcript that has not ended since the user's last
// message, "" if there is none or more than one.
func openCall(path string) (call string) {
	f, size := openTranscript(path)
	if f == nil {
		return ""
	}
	defer f.Close()
	ended, open := map[string]bool{}, map[string]struct{}{}
	_ = eachLine(f, size, func(line []byte) bool {
		var item struct {
			Payload struct {
				Type string `json:"type"`
				Role string `json:"role"`
				Call string `json:"call_id"`
			} `json:"payload"`
		}
		if strictjson.UnmarshalLoose(line, &item) != nil {
			return false
		}
		p := item.Payload
		switch {
		case p.Type == "message" && p.Role == "user":
			return true
		case p.Call == "":
		case strings.HasSuffix(p.Type, "_call_output"):
			ended[p.Call] = true
		case strings.HasSuffix(p.Type, "_call") && !ended[p.Call]:
			open[p.Call], call = struct{}{}, p.Call
		}
		return false
	})
	if len(open) != 1 {
		return ""
	}
	return call
}
