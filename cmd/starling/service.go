package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/installer"
)

func serviceCmd(o *options) *cobra.Command {
	var perUser bool
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Run the agent as a system service",
		Long: "Run the agent as a service of systemd, launchd or Windows, which starts with the computer.\n\n" +
			"A service for the whole computer needs administrator rights; on Linux, the agent then runs as the user starling with its data in /var/lib/starling, and on Windows as NT SERVICE\\starling with its data in %ProgramData%\\Starling. With --user, no special rights are needed and the agent runs as you.",

		Annotations: map[string]string{ownData: "yes"},
	}
	cmd.PersistentFlags().BoolVar(&perUser, "user", false, "manage a service for your user, without administrator rights")
	for _, c := range []struct {
		verb  installer.Verb
		short string
	}{
		{installer.Install, "Install the service and start it"},
		{installer.Uninstall, "Stop and remove the service, but keep its data"},
		{installer.Start, "Start the service"},
		{installer.Stop, "Stop the service; tasks resume from their last checkpoint at the next start"},
		{installer.Restart, "Restart the service"},
		{installer.Status, "Show whether the service is running"},
	} {
		cmd.AddCommand(&cobra.Command{
			Use:   string(c.verb),
			Short: c.short,
			Args:  cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				s, err := installer.Own(o.data, perUser)
				if err != nil {
					return err
				}
				told, err := s.Do(c.verb)
				if told != "" {
					fmt.Fprintln(cmd.OutOrStdout(), told)
				}
				return err
			},
		})
	}
	return cmd
}
