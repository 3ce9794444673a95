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
		Short: "Have the system run the agent, from its start on",
		Long: "Have the operating system run the agent as a service: of systemd, launchd or Windows. For the whole computer it takes the administrator's rights, and on Linux the agent then runs as the user starling, " +
			"with its data in /var/lib/starling. With --user it takes no rights and the agent runs as you.",

		Annotations: map[string]string{ownData: "yes"},
	}
	cmd.PersistentFlags().BoolVar(&perUser, "user", false, "a service of your own, without the administrator's rights")
	for _, c := range []struct {
		verb  installer.Verb
		short string
	}{
		{installer.Install, "Install the service and start it"},
		{installer.Uninstall, "Stop and remove the service; data is kept"},
		{installer.Start, "Start the service"},
		{installer.Stop, "Stop the service; tasks go on from their checkpoints later"},
		{installer.Restart, "Stop the service and start it again"},
		{installer.Status, "Say whether the service runs"},
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
