package main

import (
	"cmp"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the Go release it was built with",
		Long: `Print the version, the commit and the Go release it was built with.

Exit codes: 0 printed, 2 a mistake in the command line.`,
		Example: "  vaglio version",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), version())
			return err
		},
	}
}

// version is what the build recorded of itself.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "vaglio (built without module information)"
	}
	setting := map[string]string{}
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	commit := cmp.Or(setting["vcs.revision"], "unknown")
	if setting["vcs.modified"] == "true" {
		commit += " with changes"
	}
	return fmt.Sprintf("vaglio %s\ncommit %s\n%s", cmp.Or(info.Main.Version, "(devel)"), commit, info.GoVersion)
}
