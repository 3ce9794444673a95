package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
)

func keyCmd() *cobra.Command {
	rotate := &cobra.Command{
		Use:   "rotate DIR",
		Short: "Replace the code signing key and sign all programs with the new one",
		Long: "Replace the code signing key and sign the programs of all app versions with the new one. The server must be stopped; while one runs on this computer this is refused, " +
			"but servers on other computers that share the project are not seen: stop them all. " +
			"Computers that know the old key, or one before it, learn the new one at their next contact, as each old key signs it. " +
			"The old private keys stay in keys/ as old_key_private_N: keep copies in a safe place, the next rotation needs them. " +
			"If a key has been stolen, computers still trust what it signs until they were in contact.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
				if err := operate.RotateKey(ctx, p); err != nil {
					return err
				}
				cmd.Println("the code signing key is a new one and all programs are signed with it; start the server again")
				return nil
			})
		},
	}
	rotate.SetOut(os.Stdout)
	return group("key", "Manage the project's keys", rotate)
}
