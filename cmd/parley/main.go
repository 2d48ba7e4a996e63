// Command parley is the whole program: the server and the tools of its operator.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // the binary needs no zone files

	"github.com/spf13/cobra"
	"parley/config"
	"parley/knowledge/extract"
)

func main() {
	extract.Child() // a document is read in a process of its own
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:]))
}

// run executes one command line. 0: done as asked, 1: failed, 2: bad arguments or configuration.
func run(ctx context.Context, args []string) int {
	syscall.Umask(0o077) // what is written is its owner's alone
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "parley:", strings.ReplaceAll(err.Error(), "\n", " "))
	if _, ok := errors.AsType[failure](err); ok {
		return 1
	}
	return 2
}

// failure is an error of a command that was understood.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// misuse is an error in what the operator asked for.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

// action runs a command with the effective configuration and tells its failures from misuse.
func action(do func(cmd *cobra.Command, args []string, cfg *config.Loaded) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		cfg, err := loadConfig(cmd)
		if err != nil {
			return err
		}
		setLog(cfg.Config)
		if err := do(cmd, args, cfg); err != nil {
			if _, ok := errors.AsType[misuse](err); ok {
				return err
			}
			return failure{err}
		}
		return nil
	}
}

// loadConfig reads file, environment and the flags that were given.
func loadConfig(cmd *cobra.Command) (*config.Loaded, error) {
	src := config.Source{Env: os.Environ(), Flags: map[string]string{}, File: os.Getenv("PARLEY_CONFIG"), Sections: sections()}
	for _, key := range []string{"data", "listen", "dev"} {
		if f := cmd.Flags().Lookup(key); f != nil && f.Changed {
			src.Flags[key] = f.Value.String()
		}
	}
	if f := cmd.Flags().Lookup("config"); f.Changed {
		src.File = f.Value.String()
	}
	return config.Load(src)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{Use: "parley", Short: "AI calling and messaging, self-hosted", SilenceErrors: true, SilenceUsage: true}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().String("config", "", "YAML file with settings")
	root.PersistentFlags().String("data", "./data", "folder of everything that is stored")
	root.AddCommand(newServe(), newTry(), newKeys(), newAccounts(), newUsers(), newBalance(), newPaymentMethod(), newBackup(), newRestore(),
		newListen(), newSim(), newBench(), newConfig(), newDoctor(), newReady(), newLicences(), newVersion())
	return root
}

func newConfig() *cobra.Command {
	return &cobra.Command{Use: "config", Short: "Print every setting with its value and origin", Args: cobra.NoArgs,
		RunE: action(func(cmd *cobra.Command, _ []string, cfg *config.Loaded) error {
			cfg.Print(cmd.OutOrStdout())
			return nil
		})}
}
