package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/metnos/vaglio/templates"
)

// texts reads the language, and the texts with those of the operator's folder.
func (m *mistakes) texts(e *environment) (templates.Lang, *templates.Set) {
	lang := templates.Lang(e.Lang.value)
	if known, ok := templates.Language(e.Lang.value); !ok || known != lang {
		m.add("METNOS_LANG", "%q is not a language that there are texts in; there is en and it", e.Lang.value)
	}
	const name = "METNOS_TEMPLATES"
	var folder fs.FS
	if e.Templates.set {
		if info, err := os.Stat(e.Templates.value); err != nil || !info.IsDir() {
			m.add(name, "%q is not a folder", e.Templates.value)
		} else {
			folder = os.DirFS(e.Templates.value)
		}
	}
	set, err := templates.Load(folder)
	if wrong, ok := errors.AsType[*templates.LoadError](err); ok {
		for _, mistake := range wrong.Mistakes {
			m.add(name, "%s", mistake)
		}
	}
	return lang, set
}
