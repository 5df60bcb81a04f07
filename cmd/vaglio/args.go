package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/metnos/vaglio/gateway/far"
	"github.com/metnos/vaglio/gateway/install"
	"github.com/metnos/vaglio/internal/nearest"
)

// noArgs rejects every argument, and suggests the command whose name it may have been meant to be.
func noArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.HasAvailableSubCommands() && !cmd.HasParent():
		return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), meantCommand(cmd, args[0]))
	case cmd.HasAvailableSubCommands():
		return fmt.Errorf("%s knows no command %q%s", cmd.CommandPath(), args[0], meantCommand(cmd, args[0]))
	}
	return asUsed(cmd, args)
}

// meantCommand suggests a command whose name is close to what was written.
func meantCommand(cmd *cobra.Command, written string) string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return meant("", nearestTo(written, names))
}

// nearestTo returns the name that is a slip away from what was written, or the only one that begins
// like it: "claude" for claude-code, "gemini-cli" for gemini.
func nearestTo(written string, names []string) string {
	if near := nearest.Slip(written, names); near != "" {
		return near
	}
	const enough = 4
	alike := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return len(name) < enough || len(written) < enough || !strings.HasPrefix(name, written) && !strings.HasPrefix(written, name)
	})
	if len(alike) != 1 {
		return ""
	}
	return alike[0]
}

// meantFlag suggests a flag whose name is close to what was written.
func meantFlag(cmd *cobra.Command, written string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return meant("--", nearest.Slip(written, names))
}

func meant(dashes, name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", dashes+name)
}

// asUsed requires the arguments that the command's use names: <one> is required, [one] optional, of
// <these...> at least one, and of [these...] any number. None may be empty: what a script left empty
// by mistake would otherwise mean everything.
func asUsed(cmd *cobra.Command, args []string) error {
	takes := argumentIn.FindAllString(cmd.Use, -1)[1:]
	if n := len(takes); strings.HasSuffix(cmd.Use, "...]") {
		takes = takes[:n-1]
	} else if len(args) > n && !strings.HasSuffix(cmd.Use, "...>") {
		return tooMany(cmd, takes, args[n])
	}
	for i, what := range takes {
		needed := strings.HasPrefix(what, "<")
		switch {
		case i >= len(args) && !needed:
		case i >= len(args), needed && strings.TrimSpace(args[i]) == "":
			return fmt.Errorf("%s needs %s, as in: %s", cmd.CommandPath(), what, firstExample(cmd))
		case strings.TrimSpace(args[i]) == "":
			return fmt.Errorf("%s was given an empty %s; leave it out, or say which", cmd.CommandPath(), what)
		}
	}
	return nil
}

// argumentIn matches a word of a command's use; the name of an argument may consist of several.
var argumentIn = regexp.MustCompile(`<[^>]*>|\[[^\]]*\]|\S+`)

// tooMany returns the error that a command was given more than it takes. A duration must follow its
// flag.
func tooMany(cmd *cobra.Command, takes []string, given string) error {
	if len(takes) == 0 {
		return fmt.Errorf("%s takes no argument, and was given %q", cmd.CommandPath(), given)
	}
	hint := ""
	if _, err := time.ParseDuration(given); err == nil && cmd.Flags().Lookup("for") != nil {
		hint = "; a time is given as --for " + given
	}
	most := "one"
	if len(takes) == 1 && strings.HasPrefix(takes[0], "[") {
		most = "at most one"
	}
	return fmt.Errorf("%s takes %s %s, and was given %q, too%s", cmd.CommandPath(), most, strings.Join(takes, " and one "), given, hint)
}

// asUsedOf requires the arguments that the use names, and that the first is one of known. kind says
// what those are; the error lists what the command completes.
func asUsedOf(kind string, known []string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := asUsed(cmd, args); err != nil || slices.Contains(known, args[0]) {
			return err
		}
		if near := nearestTo(args[0], cmd.ValidArgs); near != "" {
			return fmt.Errorf("%q is not a %s%s", args[0], kind, meant("", near))
		}
		return fmt.Errorf("%q is not a %s; known: %s", args[0], kind, strings.Join(cmd.ValidArgs, ", "))
	}
}

// inOurWords makes the commands that cobra adds report mistakes as ours do.
func inOurWords(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args, c.RunE = noArgs, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, shell := range c.Commands() {
				shell.Args = noArgs
			}
		case "help":
			c.Args = func(_ *cobra.Command, names []string) error {
				about, rest, err := root.Find(names)
				if (err != nil || len(rest) > 0) && !about.HasAvailableSubCommands() {
					return fmt.Errorf("%s has no command %q below it", about.CommandPath(), rest[0])
				} else if err != nil || len(rest) > 0 {
					return noArgs(about, rest)
				}
				return nil
			}
		}
	}
}

func firstExample(cmd *cobra.Command) string {
	line, _, _ := strings.Cut(strings.TrimSpace(cmd.Example), "\n")
	return line
}

// mistakenFlag rephrases an error about a flag.
func mistakenFlag(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if short := unknown.GetSpecifiedShortnames(); short != "" && short[0] >= '0' && short[0] <= '9' {
			return fmt.Errorf("-%s is less than nothing: %s takes no negative time or number", short, cmd.Name())
		}
		return fmt.Errorf("%w%s", err, meantFlag(cmd, unknown.GetSpecifiedName()))
	}
	if bare, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Errorf("--%s needs a value: %s", bare.GetFlag().Name, bare.GetFlag().Usage)
	}
	wrong, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	want := "such a value"
	switch wrong.GetFlag().Value.Type() {
	case "bool":
		want = "true or false"
	case "int", "int64", "uint", "uint64":
		want = "a whole number"
	case "duration":
		want = "a time such as 30s or 5m"
	}
	return fmt.Errorf("--%s: %q is not %s", wrong.GetFlag().Name, wrong.GetValue(), want)
}

// onlyOne returns an error if flags are given together that exclude each other.
func onlyOne(cmd *cobra.Command) error {
	err := cmd.ValidateFlagGroups()
	if err == nil {
		return nil
	}
	_, given, ok := strings.Cut(err.Error(), "; [")
	given, _, closed := strings.Cut(given, "]")
	if !ok || !closed {
		return err
	}
	return fmt.Errorf("--%s cannot be given together", strings.ReplaceAll(given, " ", " and --"))
}

// addGate adds the flags that locate a daemon on another machine.
func addGate(f *pflag.FlagSet, g *far.Gate) {
	f.StringVar(&g.At, "at", "", "address of a daemon on another machine, such as https://gate.example.org:8443")
	f.StringVar(&g.CA, "ca", "", "file with the certificate (PEM) of the authority that signed that daemon's, when the system trusts another")
}

// addCaller adds the same flags, and the one for the agent.
func addCaller(f *pflag.FlagSet, g *far.Gate) {
	addGate(f, g)
	f.StringVar(&g.Agent, "agent", "", "name of the agent, whose token 'vaglio install' keeps")
}

// scope returns where the settings of a client are changed.
func (i *installer) scope() install.Scope {
	switch {
	case i.project:
		return install.Project
	case i.managed:
		return install.Managed
	}
	return install.User
}
