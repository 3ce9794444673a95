package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/server"
)

func fileCmd() *cobra.Command { return group("file", "Files of the project", stageCmd()) }

func stageCmd() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "stage DIR FILE",
		Short: "Put a file where clients fetch it, and print its name",
		Long: "Put a file into download/ and print the name under which `work create --staged` takes it.\n" +
			"Work that awaits it goes on.",
		Example: "  starling-server file stage demo out.dat --name step1.dat",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withProject(cmd, args[0], func(_ context.Context, p *server.Project) error {
				name, err := p.StageFile(args[1], name)
				if err != nil {
					return err
				}
				fmt.Println(name)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "its name in the project, never used for another content (default: made from its own)")
	return cmd
}
