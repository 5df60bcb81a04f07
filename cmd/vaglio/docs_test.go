package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/gateway/install"
)

// document reads a file of the documentation.
func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// generated reports whether a command is one of a series, such as the shells'. The table only names
// the series.
func generated(parent, c *cobra.Command) bool {
	return parent.Name() == "completion" || parent.Name() == "doctor" && slices.Contains(install.Clients(), c.Name())
}

// documents returns the paths of the documentation, relative to the repository's root.
func documents(t *testing.T) []string {
	t.Helper()
	below, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(below) < 20 {
		t.Fatalf("%v, %d documents", err, len(below))
	}
	all := []string{"README.md"}
	for _, path := range below {
		all = append(all, "docs/"+filepath.Base(path))
	}
	return all
}

// TestTheDocumentsNameNoOtherSetting rejects unknown settings. The reference, which is generated
// from the code, has all known ones.
func TestTheDocumentsNameNoOtherSetting(t *testing.T) {
	known := knownNames()
	for _, doc := range documents(t) {
		for _, name := range regexp.MustCompile(`METNOS_[A-Z_]*[A-Z]`).FindAllString(document(t, doc), -1) {
			if !slices.Contains(known, name) {
				t.Errorf("%s tells of %s, which there is not", doc, name)
			}
		}
	}
}

// TestTheIndexNamesEveryDocument checks docs/README.md against the folder.
func TestTheIndexNamesEveryDocument(t *testing.T) {
	index := document(t, "docs/README.md")
	for _, doc := range documents(t) {
		if name := strings.TrimPrefix(doc, "docs/"); name != "README.md" && !strings.Contains(index, "]("+name+")") {
			t.Errorf("docs/README.md does not list %s", name)
		}
	}
}

// TestTheDocumentsLinksLeadSomewhere follows every link within the repository, including the heading
// that it names.
func TestTheDocumentsLinksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"`)
	anchors := map[string][]string{} // by file, because a long one is linked to often
	for _, doc := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(withoutFences(document(t, doc)), -1) {
			to := m[1] + m[2]
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			file, heading, anchored := strings.Cut(to, "#")
			if target := path.Join(path.Dir(doc), file); file == "" {
				file = doc
			} else {
				file = target
			}
			if _, err := os.Stat("../../" + file); err != nil {
				t.Errorf("%s: the link %s leads nowhere", doc, to)
				continue
			}
			if anchored && anchors[file] == nil {
				anchors[file] = headings(document(t, file))
			}
			if anchored && !slices.Contains(anchors[file], heading) {
				t.Errorf("%s: the link %s leads to no heading of %s", doc, to, file)
			}
		}
	}
}

// withoutFences returns a document without its code blocks.
func withoutFences(text string) string {
	return regexp.MustCompile("(?ms)^ *```.*?^ *```$").ReplaceAllString(text, "")
}

// headings returns the anchors of a document's headings, as GitHub makes them.
func headings(text string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(withoutFences(text), -1) {
		anchor := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(anchor, " ", "-"))
	}
	return all
}

// TestTheChatsDocumentsListEveryCommand checks the chats' documents against their help texts.
func TestTheChatsDocumentsListEveryCommand(t *testing.T) {
	texts := document(t, "templates/en.tmpl")
	for _, chat := range []struct{ key, command, doc string }{
		{"help", `(?:^|[ ;])(/[a-z]+)`, "docs/telegram.md"},
		{"help.slack", `/vaglio ([a-z]+)`, "docs/slack.md"},
	} {
		_, help, found := strings.Cut(texts, `{{define "`+chat.key+`"}}`)
		help, _, _ = strings.Cut(help, "{{end}}")
		commands := regexp.MustCompile("(?m)"+chat.command).FindAllStringSubmatch(help, -1)
		if !found || len(commands) < 8 {
			t.Fatalf("%s: the help has %d commands", chat.key, len(commands))
		}
		doc := document(t, chat.doc)
		for _, m := range commands {
			if !regexp.MustCompile("`(?:/vaglio )?" + m[1] + "\\b").MatchString(doc) {
				t.Errorf("%s does not tell of %s", chat.doc, m[1])
			}
		}
	}
}

// TestContributingListsEveryTarget checks its table against the Makefile's targets.
func TestContributingListsEveryTarget(t *testing.T) {
	contributing := document(t, "docs/CONTRIBUTING.md")
	targets := regexp.MustCompile(`(?m)^([a-z-]+):.*## `).FindAllStringSubmatch(document(t, "Makefile"), -1)
	if len(targets) < 20 {
		t.Fatalf("the Makefile has %d targets", len(targets))
	}
	for _, m := range targets {
		if m[1] != "help" && !regexp.MustCompile("`make "+m[1]+"\\b[^-]").MatchString(contributing) {
			t.Errorf("CONTRIBUTING does not tell of make %s", m[1])
		}
	}
}
