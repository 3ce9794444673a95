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
		Long: "Replace the code signing key and sign the programs of all app versions with the new one.\n\n" +
			"Stop every server of the project first. A server running on this computer is detected and the command\n" +
			"is refused; servers on other computers are not detected.\n\n" +
			"Each old key signs the new one, so computers that know any earlier key accept it at their next contact.\n" +
			"The old private keys stay in keys/ as old_key_private_N. Keep copies in a safe place: the next rotation\n" +
			"needs them. If a key was stolen, computers trust what it signs until their next contact.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
				if err := operate.RotateKey(ctx, p); err != nil {
					return err
				}
				cmd.Println("The code signing key was replaced and all programs are signed with the new one. Start the server again.")
				return nil
			})
		},
	}
	rotate.SetOut(os.Stdout)
	return group("key", "Manage the project's keys", rotate)
}
