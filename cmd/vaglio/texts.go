package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/kelseyhightower/envconfig"
	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/regular"
	"github.com/metnos/vaglio/templates"
)

// texts reads the language and the texts, including those in the operator's folder.
func (m *mistakes) texts(e *environment) (templates.Lang, *templates.Set) {
	lang := templates.Lang(e.Lang.value)
	if known, ok := templates.Language(e.Lang.value); !ok || known != lang {
		m.add("METNOS_LANG", "%q is not a language of the texts: choose en or it", e.Lang.value)
	}
	const name = "METNOS_TEMPLATES"
	var folder fs.FS
	if e.Templates.set {
		if info, err := os.Stat(e.Templates.value); err != nil || !info.IsDir() {
			m.add(name, "%q is not a folder", e.Templates.value)
		} else {
			folder = regular.Folder(e.Templates.value)
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

// loadTexts reads the texts for commands that just talk to the daemon, which reports mistakes in all
// other settings.
func loadTexts() (*templates.Texts, error) {
	var e environment
	if err := envconfig.Process(prefix, &e); err != nil {
		return nil, err
	}
	var m mistakes
	lang, set := m.texts(&e)
	if err := m.err(); err != nil {
		return nil, &configError{err}
	}
	return set.In(lang, time.Local), nil
}

func newTexts() *cobra.Command {
	var languages []cobra.Completion
	for _, lang := range templates.Langs() {
		languages = append(languages, string(lang))
	}
	cmd := &cobra.Command{
		Use:   "texts <language>",
		Short: "Print the texts that people read",
		Long: `Print the texts that people read, in a language: en or it. To change some, put them
into a file of the same form, en.tmpl or it.tmpl, in a folder of your own, check it with
'vaglio texts check', and name it in METNOS_TEMPLATES.

Exit codes: 0 printed, 2 a mistake in the command line.`,
		Example:   "  vaglio texts it > all.txt",
		ValidArgs: languages,
		Args:      asUsedOf("language of the texts", languages),
		RunE: func(cmd *cobra.Command, args []string) error {
			source, err := templates.Source(templates.Lang(args[0]))
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(source)
			return err
		},
	}
	cmd.AddCommand(newTextsCheck())
	return cmd
}

func newTextsCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check <folder>",
		Short: "Check a folder of texts of your own",
		Long: `Check a folder of texts as serve would read it. Each mistake is shown with its file and
line. Texts that a file leaves out stay as they are built in, and are listed: after an
update, these are the new ones.

Exit codes: 0 the texts are right, 1 there is a mistake, 2 a mistake in the
command line.`,
		Example: "  vaglio texts check ~/.config/vaglio/texts",
		Args:    asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			if info, err := os.Stat(args[0]); err != nil {
				return &exitError{exitUsage, datafolder.Plain(err)}
			} else if !info.IsDir() {
				return &exitError{exitUsage, fmt.Errorf("%s is not a folder", args[0])}
			}
			set, err := templates.Load(regular.Folder(args[0]))
			if err != nil {
				return err
			}
			said := []string{"The texts are right.\n"}
			for _, lang := range templates.Langs() {
				said = append(said, builtIn(lang, set.BuiltIn(lang)))
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), strings.Join(said, ""))
			return err
		},
	}
}

// mostNamed is how many missing texts are named for a file: one that only changes a few texts lacks
// a thousand.
const mostNamed = 20

// builtIn says which texts are left as built in.
func builtIn(lang templates.Lang, keys []templates.Key) string {
	if len(keys) == 0 {
		return ""
	}
	said := fmt.Sprintf("In %s.tmpl %d texts are left out and stay as they are built in:", lang, len(keys))
	if len(keys) == 1 {
		said = fmt.Sprintf("In %s.tmpl one text is left out and stays as it is built in:", lang)
	}
	var b strings.Builder
	b.WriteString(said)
	for _, key := range keys[:min(len(keys), mostNamed)] {
		b.WriteString(" " + string(key))
	}
	if more := len(keys) - mostNamed; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String() + "\n"
}
