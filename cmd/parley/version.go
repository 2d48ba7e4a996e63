package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"parley"
)

// version of the program; the commit comes from the build.
const version = "0.1.0"

func newVersion() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprintf(cmd.OutOrStdout(), "parley %s (%s, %s/%s)\n", version, commit(), runtime.GOOS, runtime.GOARCH)
		}}
}

// commit is what the binary was built from.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	at, dirty := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			at = s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = ", modified"
		}
	}
	return at + dirty
}

func newLicences() *cobra.Command {
	return &cobra.Command{Use: "licenses", Short: "Print our licence and those of everything inside", Args: cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprint(cmd.OutOrStdout(), parley.Licence, "\n", parley.ThirdParty)
		}}
}
