package main

import (
	"context"
	"fmt"
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
		RunE: inProject(func(ctx context.Context, p *project.Project, _ []string) error {
			err := operate.RotateKey(ctx, p)
			if err == nil {
				fmt.Println("The code signing key was replaced and all programs are signed with the new one. Start the server again.")
			}
			return err
		}),
	}
	return group("key", "Manage the project's keys", createKeyCmd(), rotate)
}

func createKeyCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "create PATH",
		Short: "Create a code signing key, on a computer that keeps it",
		Long: "Create a pair of keys, PATH_private and PATH_public, on a computer other than the server, so that the\n" +
			"server never has the private one. Before the first version is published, put the public one into the project's\n" +
			"folder as keys/code_sign_public and delete keys/code_sign_private there. Sign programs with version sign.",
		Example: "  starling-server key create code_sign",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, half := range []string{"_private", "_public"} {
				if _, err := os.Lstat(args[0] + half); err == nil {
					return fmt.Errorf("%s exists and is not replaced: choose another name", args[0]+half)
				}
			}
			if err := project.MakeKeys(args[0]); err != nil {
				return err
			}
			fmt.Printf("%[1]s_private signs programs: keep it here. %[1]s_public is for the server.\n", args[0])
			return nil
		},
	}
}

func signCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "sign KEY FILE...",
		Short: "Sign files on the computer that has the private key",
		Long: "Sign files with the private key in KEY, each into FILE.sig, on a computer that need not have the project.\n" +
			"Copy file and signature to the server and run version add there. With --plain, the wrapper is to be signed too.",
		Example: "  starling-server version sign code_sign_private primes primes.exe starling-wrap-x86_64-pc-linux-gnu",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := operate.SignFiles(args[0], args[1:]); err != nil {
				return err
			}
			for _, path := range args[1:] {
				fmt.Println(path + operate.SignatureSuffix)
			}
			return nil
		},
	}
}
