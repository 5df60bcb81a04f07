package reading

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/wording"
)

// ToolOf returns what is known about a tool, by its name or by the longest key with a trailing star that matches its name.
func ToolOf[T any](tools map[string]T, name string) (T, bool) {
	if t, ok := tools[name]; ok {
		return t, true
	}
	best := ""
	for pattern := range tools {
		if start, ok := strings.CutSuffix(pattern, "*"); ok && strings.HasPrefix(name, start) && len(pattern) > len(best) {
			best = pattern
		}
	}
	t, ok := tools[best]
	return t, ok && best != ""
}

// IsLanguage reports whether a name is a language in which programs are read, as [Tool] names it.
func IsLanguage(name string) bool { return name == langShell || interpreter(name, "") != nil }

// client applies what is known about the tool of the client that would make the call. Apart from
// the language, it adds to what the executor's name says about running things.
func (w *walk) client(c Call) {
	if c.Client == "" {
		return
	}
	tool, ok := ToolOf(w.r.o.Clients[c.Client], c.Executor)
	if !ok {
		w.gap("", wording.Say("is for a tool that %s is not known to have", clip(c.Client)))
		return
	}
	w.rd.tool = &tool
	for _, key := range tool.Texts {
		if _, text := c.Args[key].(string); !text && c.Args[key] != nil && w.rd.Mistyped == nil {
			w.rd.Mistyped = &Unreadable{Key: key, What: `"` + key + `" must be a text`}
		}
	}
	if tool.Language != "" {
		w.class.language = tool.Language
	}
	if tool.Shell || tool.Language != "" {
		w.class.shell = tool.Shell || w.class.shell && tool.Language == ""
		w.class.runs, w.class.elsewhere, w.class.data = true, false, false
	}
}
