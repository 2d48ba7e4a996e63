package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"parley/accounts"
	"parley/app"
	"parley/billing"
	"parley/config"
	"parley/db"
	"parley/value"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

// office is what an operator works with, beside a running server or without one.
type office struct {
	db       *db.DB
	accounts *accounts.Accounts
	billing  *billing.Billing
	home     string // scheme and host of the console
}

// inOffice runs an operator's command.
func inOffice(do func(cmd *cobra.Command, args []string, o *office) error) func(*cobra.Command, []string) error {
	return action(func(cmd *cobra.Command, args []string, cfg *config.Loaded) error {
		d, err := openDatabase(cmd.Context(), cfg.Config)
		if err != nil {
			return err
		}
		o := &office{db: d, accounts: app.Accounts(cfg.Config, d), home: cfg.PublicURL}
		if o.home == "" {
			o.home = "http://" + cfg.Listen
		}
		if o.billing, err = app.Billing(cfg.Config, o.accounts); err == nil {
			if _, err = app.FirstAccount(cmd.Context(), o.accounts, o.billing); err == nil {
				err = do(cmd, args, o)
			}
		}
		return errors.Join(err, d.Close())
	})
}

// find is the account of --user: an e-mail address or id, empty = the first.
func (o *office) find(ctx context.Context, who string) (accounts.Account, error) {
	acc, err := o.accounts.Find(ctx, o.db, who)
	if errors.Is(err, db.ErrNone) {
		err = fmt.Errorf("there is no account %s", who)
	}
	return acc, err
}

func newKeys() *cobra.Command {
	var user, name string
	create := &cobra.Command{Use: "create --name NAME", Short: "Make an API key; prints the token, which cannot be had again",
		Args: cobra.NoArgs,
		RunE: inOffice(func(cmd *cobra.Command, _ []string, o *office) error {
			acc, err := o.find(cmd.Context(), user)
			if err != nil {
				return err
			}
			_, token, err := o.accounts.CreateKey(cmd.Context(), o.db, acc.ID, name)
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), token)
			}
			return err
		})}
	create.Flags().StringVar(&user, "user", "", "e-mail address or id of the account; empty = the first one")
	create.Flags().StringVar(&name, "name", "", "what the key is for")
	_ = create.MarkFlagRequired("name") // the flag exists
	return group("keys", "API keys", create)
}

func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return fmt.Errorf("say what to do: parley help %s", use)
	}}
	cmd.AddCommand(commands...)
	return cmd
}

func newAccounts() *cobra.Command {
	var draft accounts.Draft
	var kind, plan string
	create := &cobra.Command{Use: "create --email E --kind direct|tenant", Short: "Add an account", Args: cobra.NoArgs,
		RunE: inOffice(func(cmd *cobra.Command, _ []string, o *office) (err error) {
			draft.Kind = accounts.Kind(kind)
			if draft.Kind != accounts.Direct && draft.Kind != accounts.Tenant {
				return misuse{fmt.Errorf("--kind must be direct or tenant, not %q", kind)}
			}
			if draft.Overrides, err = readPlan(plan); err != nil {
				return err
			}
			if draft.Name == "" {
				draft.Name, _, _ = strings.Cut(draft.Email, "@")
			}
			acc, err := o.accounts.Create(cmd.Context(), o.db, draft)
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), acc.ID)
			}
			return err
		})}
	f := create.Flags()
	f.StringVar(&draft.Email, "email", "", "e-mail address")
	f.StringVar(&kind, "kind", "direct", "direct (billed in minutes) or tenant (billed in credits)")
	f.StringVar(&plan, "plan", "", "limits that differ from the default plan: max_tools=5,minute_price=0.08")
	f.StringVar(&draft.Name, "name", "", "name; empty = from the e-mail address")
	f.StringVar(&draft.Timezone, "timezone", "UTC", "IANA time zone")
	_ = create.MarkFlagRequired("email") // the flag exists
	list := &cobra.Command{Use: "list", Short: "List the accounts", Args: cobra.NoArgs, RunE: inOffice(listAccounts)}
	return group("accounts", "Accounts", create, list)
}

// readPlan takes key=value pairs; none lifts a limit.
func readPlan(text string) (o accounts.Overrides, err error) {
	pairs := map[string]json.RawMessage{}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		if value = strings.TrimSpace(value); value == "none" {
			value = "null"
		}
		pairs[strings.TrimSpace(key)] = json.RawMessage(value)
	}
	raw, err := json.Marshal(pairs)
	if err == nil {
		d := json.NewDecoder(strings.NewReader(string(raw)))
		d.DisallowUnknownFields()
		err = d.Decode(&o)
	}
	if err == nil && (o.MinutePrice.V < 0 ||
		min(o.MaxCampaigns.V, o.MaxAssistants.V, o.MaxTools.V, o.ParallelPerCampaign.V, o.ParallelPerAccount.V, o.DailyOutbound.V) < 0) {
		err = errors.New("below zero")
	}
	if err != nil {
		err = misuse{fmt.Errorf("--plan: %q is not a list of limits such as max_tools=5", text)}
	}
	return o, err
}

func listAccounts(cmd *cobra.Command, _ []string, o *office) error {
	all, err := o.accounts.List(cmd.Context(), o.db)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tEMAIL\tNAME\tKIND\tBALANCE\tPAYMENT\tCREATED")
	for _, acc := range all {
		bal, err := o.billing.Balance(cmd.Context(), o.db, acc.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s %s\t%s\t%s\n", acc.ID, acc.Email, acc.Name, acc.Kind, bal.Total, acc.Kind.Unit(), acc.PaymentMethod,
			acc.CreatedAt.Time().Format("2006-01-02"))
	}
	return w.Flush()
}

func newBalance() *cobra.Command {
	var user, amount, note string
	add := &cobra.Command{Use: "add --user E --amount N", Short: "Credit an account, or debit it with a negative amount", Args: cobra.NoArgs,
		RunE: inOffice(func(cmd *cobra.Command, _ []string, o *office) error {
			m, err := value.ParseMoney(amount)
			if err != nil {
				return misuse{fmt.Errorf("--amount must be a number, not %q", amount)}
			}
			acc, err := o.find(cmd.Context(), user)
			if err != nil {
				return err
			}
			err = o.db.Do(cmd.Context(), func(tx *db.Tx) error {
				return o.billing.Credit(cmd.Context(), tx, acc.ID, "adjustment", uuid.NewString(), m, note)
			})
			if err != nil {
				return err
			}
			bal, err := o.billing.Balance(cmd.Context(), o.db, acc.ID)
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", bal.Total, acc.Kind.Unit())
			}
			return err
		})}
	f := add.Flags()
	f.StringVar(&user, "user", "", "e-mail address or id of the account; empty = the first one")
	f.StringVar(&amount, "amount", "", "minutes or credits, as the account counts")
	f.StringVar(&note, "note", "", "stands in the ledger")
	_ = add.MarkFlagRequired("amount") // the flag exists
	return group("balance", "Balances", add)
}

func newPaymentMethod() *cobra.Command {
	var user string
	set := &cobra.Command{Use: "set ok|none|declined", Short: "Say what a charge of the account's payment method does",
		Args: cobra.ExactArgs(1),
		RunE: inOffice(func(cmd *cobra.Command, args []string, o *office) error {
			method := accounts.Payment(args[0])
			switch method {
			case accounts.PaymentOK, accounts.PaymentNone, accounts.PaymentDeclined:
			default:
				return misuse{fmt.Errorf("the payment method must be ok, none or declined, not %q", args[0])}
			}
			acc, err := o.find(cmd.Context(), user)
			if err != nil {
				return err
			}
			_, err = o.accounts.SetTerms(cmd.Context(), o.db, acc.ID, accounts.Terms{PaymentMethod: &method})
			return err
		})}
	set.Flags().StringVar(&user, "user", "", "e-mail address or id of the account; empty = the first one")
	return group("payment-method", "Payment methods", set)
}
