package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

// A userView is an account as an operator sees it. Its key and password are nobody else's.
type userView struct {
	ID           int64      `json:"id"`
	Name         string     `json:"name"`
	Email        string     `json:"email_addr"`
	CreateTime   time.Time  `json:"create_time"`
	State        string     `json:"state"` // active, banned or deleted
	BannedTime   time.Time  `json:"banned_time,omitzero"`
	BanReason    string     `json:"ban_reason,omitempty"`
	DeletedTime  time.Time  `json:"deleted_time,omitzero"`
	Hosts        int64      `json:"hosts"`
	LastContact  time.Time  `json:"rpc_time,omitzero"` // of its computers
	TotalCredit  float64    `json:"total_credit"`
	ExpavgCredit float64    `json:"expavg_credit"`
	Password     bool       `json:"has_password"`
	Computers    []hostView `json:"computers,omitempty"`
}

func viewUser(u store.User, h store.UserHosts, now time.Time) userView {
	v := userView{
		ID: u.ID, Name: u.Name, Email: u.EmailAddr, CreateTime: utc(u.CreateTime), State: "active", BannedTime: utc(u.BannedTime),
		BanReason: u.BanReason, DeletedTime: utc(u.DeletedTime), Hosts: h.Count, LastContact: utc(h.Last), TotalCredit: u.TotalCredit,
		ExpavgCredit: credit.Decayed(u.ExpavgCredit, u.ExpavgTime, now), Password: u.PasswdHash != "",
	}
	switch {
	case !u.DeletedTime.IsZero():
		v.State = "deleted"
	case !u.BannedTime.IsZero():
		v.State = "banned"
	}
	return v
}

func listUsersCmd() *cobra.Command {
	var f store.UserFilter
	var asJSON bool
	cmd := listCmd("List accounts", "List the newest accounts that all flags apply to.", "No accounts.",
		[]string{"ID", "NAME", "E-MAIL", "STATE", "HOSTS", "CREDIT", "RECENT", "LAST CONTACT", "CREATED"}, &asJSON,
		func(tx *store.Tx, now time.Time) (rows [][]any, view any, err error) {
			if f.Limit < 1 {
				return nil, nil, fmt.Errorf("--limit is %d, want a number above 0", f.Limit)
			}
			f.Search = strings.ToLower(f.Search)
			list, err := tx.ListUsers(f)
			if err != nil {
				return nil, nil, err
			}
			ids := make([]int64, len(list))
			for i, u := range list {
				ids[i] = u.ID
			}
			hosts, err := tx.HostsOfUsers(ids)
			views := []userView{}
			for _, u := range list {
				v := viewUser(u, hosts[u.ID], now)
				views = append(views, v)
				rows = append(rows, []any{v.ID, v.Name, v.Email, v.State, v.Hosts, v.TotalCredit, v.ExpavgCredit, v.LastContact, v.CreateTime})
			}
			return rows, views, err
		})
	cmd.Flags().BoolVar(&f.Banned, "banned", false, "only banned ones")
	cmd.Flags().StringVar(&f.Search, "search", "", "only with this text in the name or address")
	cmd.Flags().IntVar(&f.Limit, "limit", 50, "how many to list, newest first")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// shownHosts is how many computers of an account are shown.
const shownHosts = 100

func showUserCmd() *cobra.Command {
	cmd := showCmd("account", func(_ project.Config, tx *store.Tx, who string) (any, error) {
		u, err := operate.Account(tx, who)
		if err != nil {
			return nil, err
		}
		hosts, err := tx.HostsOfUsers([]int64{u.ID})
		if err != nil {
			return nil, err
		}
		v := viewUser(u, hosts[u.ID], time.Now())
		list, err := tx.ListHosts(store.HostFilter{UserID: u.ID, Limit: shownHosts})
		for _, h := range list {
			v.Computers = append(v.Computers, viewHost(h, time.Now()))
		}
		return v, err
	})
	cmd.Use, cmd.Short = "show DIR ACCOUNT", "Show an account and its computers, by number or e-mail address"
	return cmd
}

func passwdCmd() *cobra.Command {
	var password string
	cmd := &cobra.Command{
		Use:   "passwd DIR ACCOUNT",
		Short: "Set the password of an account",
		Long: "Set the password of an account, by number or e-mail address. Without --password, a random one is made and\n" +
			"printed. The account is logged out of the web pages. Its computers stay attached.",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
				if cmd.Flags().Changed("password") {
					return operate.SetPassword(ctx, p, args[1], password)
				}
				made := operate.RandomPassword()
				if err := operate.SetPassword(ctx, p, args[1], made); err != nil {
					return err
				}
				fmt.Println(made)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&password, "password", "", "the new password (default: a random one)")
	return cmd
}

func banUserCmd(ban bool) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "ban DIR ACCOUNT",
		Short: "Ban an account",
		Long: "Ban an account, by number or e-mail address. Its computers get no tasks, it can add none, and its owner cannot\n" +
			"log in; each reads that the account is banned, and the reason. What its computers have may still be reported and is\n" +
			"credited if it is valid.",
		Args: cobra.ExactArgs(2),
	}
	if ban {
		cmd.Flags().StringVar(&reason, "reason", "", "the reason, for the owner to read")
	} else {
		cmd.Use, cmd.Short, cmd.Long = "unban DIR ACCOUNT", "Lift the ban of an account", ""
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
			u, err := operate.Ban(ctx, p, args[1], ban, reason, time.Now())
			if err != nil {
				return err
			}
			what := "banned"
			if !ban {
				what = "no longer banned"
			}
			fmt.Printf("account %d (%s) is %s\n", u.ID, cell(u.EmailAddr), what)
			return nil
		})
	}
	return cmd
}

func deleteUserCmd() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "delete DIR ACCOUNT --yes",
		Short: "Delete an account and what is known of its owner",
		Long: "Delete an account, by number or e-mail address: name, address, password, key and preferences, and the names and\n" +
			"addresses of its computers. It cannot be restored. Tasks on its computers are given up and sent to others. Its\n" +
			"results and credit stay, for an account without a name, so that the project's sums remain true.",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes {
				return fmt.Errorf("account %s cannot be restored once it is deleted; to delete it, add --yes", args[1])
			}
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
				n, err := operate.Delete(ctx, p, args[1], time.Now())
				if err != nil {
					return err
				}
				fmt.Printf("account %s is deleted; %s given up\n", args[1], words.Count(n, "task"))
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "delete it")
	return cmd
}
