package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

func fileCmd() *cobra.Command {
	return group("file", "Manage files of the project and on computers", stageCmd(),
		orderCmd(store.FilePut, "Order a computer to download a file from download/ and keep it"),
		orderCmd(store.FileGet, "Order a computer to upload a file to upload/"),
		orderCmd(store.FileDelete, "Order a computer to delete a file"), filesCmd())
}

func stageCmd() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "stage DIR FILE",
		Short: "Publish a file for download and print its name",
		Long: "Copy a file into download/ and print the name that `work create --staged` expects.\n" +
			"Workunits that wait for the file are released.",
		Example: "  starling-server file stage demo out.dat --name step1.dat",
		Args:    cobra.ExactArgs(2),
		RunE: inProject(func(ctx context.Context, p *project.Project, args []string) error {
			name, err := operate.StageFile(ctx, p, args[1], name)
			if err != nil {
				return err
			}
			fmt.Println(name)
			return nil
		}),
	}
	cmd.Flags().StringVar(&name, "name", "", "name in the project, never to be used for different content (default: derived from the file's name)")
	return cmd
}

// maxGet is the default limit on the size of a file fetched from a computer.
const maxGet = 1 << 30

func orderCmd(action store.FileAction, short string) *cobra.Command {
	most := int64(maxGet)
	cmd := &cobra.Command{
		Use:   string(action) + " DIR HOST NAME",
		Short: short,
		Long:  short + ".\nThe order is repeated in each reply to the computer until it is done: see file list.",
		Args:  cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			host, ok := number(args[1])
			if !ok {
				return fmt.Errorf("host %q: want a number", args[1])
			}
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
				return operate.OrderFile(ctx, p, host, action, args[2], most, time.Now())
			})
		},
	}
	if action == store.FileGet {
		cmd.Flags().Int64Var(&most, "max-nbytes", most, "largest size accepted, in bytes")
	}
	return cmd
}

type orderView struct {
	ID         int64     `json:"id"`
	HostID     int64     `json:"host_id"`
	Action     string    `json:"action"`
	Name       string    `json:"name"`
	CreateTime time.Time `json:"create_time"`
	DoneTime   time.Time `json:"done_time,omitzero"`
	Failed     string    `json:"failed,omitempty"` // why the computer could not do it
}

func filesCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list DIR",
		Short: "List sticky files on computers, and orders",
		Args:  cobra.ExactArgs(1),
		RunE: inProject(func(ctx context.Context, p *project.Project, _ []string) error {
			all := struct {
				Files  []view.HeldFile `json:"files"`
				Orders []orderView     `json:"orders"`
			}{[]view.HeldFile{}, []orderView{}}
			err := p.Store.View(ctx, func(tx *store.View) error {
				files, err := tx.HostFiles(0)
				if err != nil {
					return err
				}
				for _, f := range files {
					all.Files = append(all.Files, view.HeldFile(f))
				}
				for after := int64(0); ; {
					list, err := tx.AllFileOrders(after, bulk)
					if err != nil || len(list) == 0 {
						return err
					}
					for _, o := range list {
						after = o.ID
						all.Orders = append(all.Orders, orderView{
							o.ID, o.HostID, string(o.Action), o.Name, view.UTC(o.CreateTime), view.UTC(o.DoneTime), view.FileFailure(o.Status),
						})
					}
				}
			})
			if err != nil || asJSON {
				return printJSON(all, err)
			}
			if len(all.Files) == 0 && len(all.Orders) == 0 {
				fmt.Println("No computer has files of the project, and there are no orders.")
			}
			return printSheet(view.Lay(all))
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
