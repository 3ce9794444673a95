package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

func trickleCmd() *cobra.Command {
	return group("trickle", "Exchange messages with running applications", trickleListCmd(), trickleSendCmd())
}

type trickleView struct {
	ID         int64     `json:"id"`
	Result     string    `json:"result"`
	HostID     int64     `json:"hostid"`
	CreateTime time.Time `json:"create_time"`
	SentTime   time.Time `json:"sent_time"`
	Variety    string    `json:"variety"`
	Handled    bool      `json:"handled"`
	Text       string    `json:"text"`
}

func trickleListCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list DIR",
		Short: "List trickle-up messages, oldest first",
		Args:  cobra.ExactArgs(1),
		RunE: inProject(func(ctx context.Context, p *project.Project, _ []string) error {
			list := []trickleView{}
			for after := int64(0); ; after = list[len(list)-1].ID {
				some, err := store.Read(ctx, p.Store, func(tx *store.View) ([]store.MsgFromHost, error) { return tx.MsgsFromHost(after, bulk) })
				if err != nil {
					return err
				}
				for _, m := range some {
					list = append(list, trickleView{
						m.ID, m.ResultName, m.HostID, m.CreateTime.UTC(), view.UTC(m.SentTime), m.Variety, m.Handled, m.XML,
					})
				}
				if len(some) < bulk {
					break
				}
			}
			if asJSON {
				return printJSON(list, nil)
			}
			for _, m := range list {
				fmt.Printf("%s  %s  host %d  %q  %s\n", m.CreateTime.Format(time.DateTime+" MST"), m.Result, m.HostID, m.Variety,
					strings.Join(strings.Fields(m.Text), " "))
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func trickleSendCmd() *cobra.Command {
	var text string
	cmd := &cobra.Command{
		Use:   "send DIR RESULT --text TEXT",
		Short: "Send a message to the application that computes a result",
		Args:  cobra.ExactArgs(2),
		RunE: inProject(func(ctx context.Context, p *project.Project, args []string) error {
			return operate.SendTrickle(ctx, p, args[1], text, time.Now())
		}),
	}
	cmd.Flags().StringVar(&text, "text", "", "text of the message")
	require(cmd, "text")
	return cmd
}
