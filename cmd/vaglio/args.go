package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/metnos/vaglio/internal/nearest"
)

// noArgs refuses every argument, and says whether it would have been a command's
// name.
func noArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.HasAvailableSubCommands() && !cmd.HasParent():
		return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), meantCommand(cmd, args[0]))
	case cmd.HasAvailableSubCommands():
		return fmt.Errorf("%s knows no command %q%s", cmd.CommandPath(), args[0], meantCommand(cmd, args[0]))
	}
	return fmt.Errorf("%s takes no argument, and was given %q", cmd.CommandPath(), args[0])
}

// meantCommand asks whether a command was meant that is near what was written.
func meantCommand(cmd *cobra.Command, written string) string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return meant("", nearest.Slip(written, names))
}

// meantFlag asks the same of a flag.
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

// oneArg wants the one argument that the command's use names, and not an empty
// one.
func oneArg(cmd *cobra.Command, args []string) error {
	_, what, _ := strings.Cut(cmd.Use, " ")
	switch {
	case len(args) > 1:
		return fmt.Errorf("%s takes one %s, and was given %q, too", cmd.CommandPath(), what, args[1])
	case len(args) == 0 || strings.TrimSpace(args[0]) == "":
		return fmt.Errorf("%s needs %s, as in: %s", cmd.CommandPath(), what, firstExample(cmd))
	}
	return nil
}

func firstExample(cmd *cobra.Command) string {
	line, _, _ := strings.Cut(strings.TrimSpace(cmd.Example), "\n")
	return line
}

// mistakenFlag says what was wrong with a flag in our words.
func mistakenFlag(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return fmt.Errorf("%w%s", err, meantFlag(cmd, unknown.GetSpecifiedName()))
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

// onlyOne says which flags cannot be given together.
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
