package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"parley/accounts"
	"parley/db"
	"parley/fault"

	"github.com/spf13/cobra"
)

// newUsers are the commands about people who sign in to the console.
func newUsers() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "List people and the accounts they belong to", Args: cobra.NoArgs, RunE: inOffice(listUsers)}
	return group("users", "People who sign in to the console", list,
		forUser("link --email E", "Print a link that signs a person in once, within 30 minutes", linkUser),
		forUser("password --email E", "Set a person's password, read from standard input; their sessions end", setUserPassword),
		forUser("remove --email E", "Remove a person from every account",
			func(cmd *cobra.Command, o *office, u accounts.User) error {
				return o.accounts.RemoveUser(cmd.Context(), u.ID)
			}),
		newUsersOperator())
}

// forUser is a command about the person with an address.
func forUser(use, short string, do func(*cobra.Command, *office, accounts.User) error) *cobra.Command {
	var email string
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: inOffice(func(cmd *cobra.Command, _ []string, o *office) error {
		u, err := o.accounts.UserOf(cmd.Context(), o.db, email)
		if errors.Is(err, db.ErrNone) {
			return fmt.Errorf("nobody signs in as %s", email)
		}
		if err == nil {
			err = do(cmd, o, u)
		}
		if f, ok := errors.AsType[*fault.Fault](err); ok && len(f.Fields) > 0 {
			return misuse{errors.New(f.Fields[0].Sentence)}
		}
		return err
	})}
	cmd.Flags().StringVar(&email, "email", "", "e-mail address of the person")
	_ = cmd.MarkFlagRequired("email") // the flag exists
	return cmd
}

func newUsersOperator() *cobra.Command {
	var off bool
	cmd := forUser("operator --email E", "Make a person an operator of the installation",
		func(cmd *cobra.Command, o *office, u accounts.User) error {
			return o.accounts.SetOperator(cmd.Context(), o.db, u.ID, !off)
		})
	cmd.Flags().BoolVar(&off, "off", false, "no operator any more")
	return cmd
}

func linkUser(cmd *cobra.Command, o *office, u accounts.User) error {
	token, err := o.accounts.Link(cmd.Context(), o.db, u.ID)
	if err == nil {
		fmt.Fprintf(cmd.OutOrStdout(), "%s/console/welcome?token=%s\n", o.home, token)
	}
	return err
}

func setUserPassword(cmd *cobra.Command, o *office, u accounts.User) error {
	line, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		return misuse{errors.Join(errors.New("write the password to standard input"), err)}
	}
	return o.accounts.SetPassword(cmd.Context(), u.ID, line, "")
}

func listUsers(cmd *cobra.Command, _ []string, o *office) error {
	all, err := o.accounts.Users(cmd.Context(), o.db)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tEMAIL\tNAME\tOPERATOR\tPASSWORD\tTWO-FACTOR\tACCOUNTS")
	for _, u := range all {
		of, err := o.accounts.Memberships(cmd.Context(), o.db, u.ID)
		if err != nil {
			return err
		}
		var names []string
		for _, m := range of {
			names = append(names, fmt.Sprintf("%d:%s", m.Account, m.Role))
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%v\t%v\t%v\t%s\n", u.ID, u.Email, u.Name, u.Operator, u.Password != nil, u.TOTP != nil, strings.Join(names, " "))
	}
	return w.Flush()
}
