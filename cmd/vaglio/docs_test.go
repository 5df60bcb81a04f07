package main

import (
	"os"
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

// TestTheReadmeListsEveryCommand holds its table of commands against the commands.
func TestTheReadmeListsEveryCommand(t *testing.T) {
	readme := document(t, "README.md")
	_, table, found := strings.Cut(readme, "\n## Commands\n")
	table, _, ended := strings.Cut(table, "\n## ")
	if !found || !ended {
		t.Fatal("the README has no chapter Commands")
	}
	var listed []string
	for _, m := range regexp.MustCompile("`vaglio ([a-z]+)").FindAllStringSubmatch(table, -1) {
		listed = append(listed, m[1])
	}
	root := newRoot(stdio{})
	root.InitDefaultCompletionCmd()
	var there []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			there = append(there, c.Name())
		}
		for _, sub := range c.Commands() {
			if word := regexp.MustCompile("`[^`]*\\b" + sub.Name() + "\\b"); sub.IsAvailableCommand() && !generated(c, sub) && !word.MatchString(table) {
				t.Errorf("the README does not list 'vaglio %s %s'", c.Name(), sub.Name())
			}
		}
	}
	for _, name := range there {
		if !slices.Contains(listed, name) {
			t.Errorf("the README does not list 'vaglio %s'", name)
		}
	}
	for _, name := range listed {
		if !slices.Contains(there, name) {
			t.Errorf("the README lists 'vaglio %s', which there is not", name)
		}
	}
}

// generated tells whether a command is one of a row, such as a shell's: the table
// names the row.
func generated(parent, c *cobra.Command) bool {
	return parent.Name() == "completion" || parent.Name() == "doctor" && slices.Contains(install.Clients(), c.Name())
}

// TestTheReadmeListsEverySetting holds its table of settings against the settings.
func TestTheReadmeListsEverySetting(t *testing.T) {
	readme := document(t, "README.md")
	known := knownNames()
	for _, name := range known {
		if of, file := strings.CutSuffix(name, "_FILE"); !strings.Contains(readme, "`"+name+"`") && (!file || !slices.Contains(known, of)) {
			t.Errorf("the README does not tell of %s", name)
		}
	}
	for _, name := range regexp.MustCompile(`METNOS_[A-Z_]*[A-Z]`).FindAllString(readme, -1) {
		if !slices.Contains(known, name) {
			t.Errorf("the README tells of %s, which there is not", name)
		}
	}
}

// TestTheChatsDocumentsListEveryCommand holds the documents of the chats against
// what their help says.
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
