package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

// A hostView is a computer in a list.
type hostView struct {
	ID            int64     `json:"id"`
	UserID        int64     `json:"userid"`
	DomainName    string    `json:"domain_name"`
	State         string    `json:"state"` // active or banned
	Client        string    `json:"client_version,omitempty"`
	OSName        string    `json:"os_name"`
	Model         string    `json:"p_model"`
	NCPUs         int       `json:"p_ncpus"`
	External      string    `json:"external_ip_addr"`
	TotalCredit   float64   `json:"total_credit"`
	ExpavgCredit  float64   `json:"expavg_credit"`
	AvgTurnaround float64   `json:"avg_turnaround"` // seconds
	ErrorRate     float64   `json:"error_rate"`     // the highest of its app versions
	LastContact   time.Time `json:"rpc_time,omitzero"`
	CreateTime    time.Time `json:"create_time"`
}

func viewHost(h store.Host, now time.Time) hostView {
	v := hostView{
		ID: h.ID, UserID: h.UserID, DomainName: h.DomainName, State: "active", Client: h.Client, OSName: h.OSName, Model: h.Model,
		NCPUs: h.NCPUs, External: h.ExternalIPAddr, TotalCredit: h.TotalCredit,
		ExpavgCredit:  credit.Decayed(h.ExpavgCredit, h.ExpavgTime, now),
		AvgTurnaround: h.AvgTurnaround, LastContact: utc(h.RPCTime), CreateTime: utc(h.CreateTime),
	}
	if h.MaxResultsDay < 0 {
		v.State = "banned"
	}
	return v
}

func listHostsCmd() *cobra.Command {
	var f store.HostFilter
	var user, active string
	var asJSON bool
	cmd := listCmd("List computers", "List the newest computers that all flags apply to. ERRORS is the share of recent results that were no good, of the\nworst application version.",
		"No computers.", []string{"ID", "NAME", "ACCOUNT", "STATE", "CLIENT", "CPUS", "SYSTEM", "ADDRESS", "CREDIT", "RECENT", "ERRORS", "LAST CONTACT"}, &asJSON,
		func(tx *store.Tx, now time.Time) (rows [][]any, view any, err error) {
			if f.Limit < 1 {
				return nil, nil, fmt.Errorf("--limit is %d, want a number above 0", f.Limit)
			}
			if f.Since, err = ago("active", active, now); err != nil {
				return nil, nil, err
			}
			if user != "" {
				u, err := operate.Account(tx, user)
				if err != nil {
					return nil, nil, err
				}
				f.UserID = u.ID
			}
			list, err := tx.ListHosts(f)
			views := []hostView{}
			for _, h := range list {
				v := viewHost(h, now)
				earned, err := tx.HostAppVersions(h.ID)
				if err != nil {
					return nil, nil, err
				}
				for _, e := range earned {
					v.ErrorRate = max(v.ErrorRate, e.ErrorRate)
				}
				views = append(views, v)
				rows = append(rows, []any{
					v.ID, v.DomainName, v.UserID, v.State, v.Client, v.NCPUs, v.OSName, v.External,
					v.TotalCredit, v.ExpavgCredit, v.ErrorRate, v.LastContact,
				})
			}
			return rows, views, err
		})
	cmd.Flags().StringVar(&user, "user", "", "only of this account, by number or e-mail address")
	cmd.Flags().BoolVar(&f.Excluded, "banned", false, "only banned ones")
	cmd.Flags().StringVar(&active, "active", "", "only those that contacted the project within this time, for example 12h or 7d")
	cmd.Flags().IntVar(&f.Limit, "limit", 50, "how many to list, newest first")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func banHostCmd(ban bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ban DIR ID …",
		Short: "Send no work to computers",
		Long: "Send no work to computers, by number (max_results_day is -1 then, as in BOINC). Their volunteers read that the\n" +
			"project has excluded the computer. What the computers have may still be reported and is credited if it is valid.",
		Args: cobra.MinimumNArgs(2),
	}
	if !ban {
		cmd.Use, cmd.Short, cmd.Long = "unban DIR ID …", "Send work to banned computers again", ""
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var ids []int64
		for _, a := range args[1:] {
			id, ok := number(a)
			if !ok {
				return errors.New(a + " is not a computer's number: see host list")
			}
			ids = append(ids, id)
		}
		return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
			if err := operate.ExcludeHosts(ctx, p, ids, ban); err != nil {
				return err
			}
			what := "banned"
			if !ban {
				what = "no longer banned"
			}
			fmt.Printf("%s %s\n", words.Count(len(ids), "computer"), what)
			return nil
		})
	}
	return cmd
}
