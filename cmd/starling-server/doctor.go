package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

func doctorCmd() *cobra.Command {
	var asJSON, mend, adopt bool
	cmd := &cobra.Command{
		Use:   "doctor DIR",
		Short: "Check that the project's records and files agree with each other",
		Long: "Check the project's records and files: every workunit ends, credit adds up, the files of\n" +
			"unfinished work exist, programs are signed, the database is sound, files can be written, the programs and\n" +
			"templates of applications can be used. The mail server is asked whether it accepts the project's log-in, and\n" +
			"the certificate for TLS is read. Each fault is printed with its repair.\n" +
			"Nothing is changed without --mend. The server may be running.\n\n" +
			"It also lists work that validators, assimilators and trickle handlers could not take, versions of applications\n" +
			"that fail, and unsent results that no computer active in the last 7 days can run, and why. They are not faults\n" +
			"and do not change the exit status, which is 1 if a fault was found.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			open := project.Open
			if adopt {
				open = project.Adopt
			}
			return withOpened(cmd, args[0], open, func(ctx context.Context, p *project.Project) error {
				d := operate.Doctor(p)
				if mend {
					if err := d.Mend(ctx, time.Now()); err != nil {
						return err
					}
				}
				if term.IsTerminal(int(os.Stderr.Fd())) {
					d.Progress = examining(os.Stderr)
				}
				wrong, err := d.Examine(ctx)
				if err != nil {
					return err
				}
				wrong = append(wrong, operate.CheckFolders(p)...)
				wrong = append(wrong, operate.CheckMail(ctx, p)...)
				wrong = append(wrong, operate.CheckTLS(p, time.Now())...)
				apps, err := operate.CheckApps(ctx, p, time.Now())
				if err != nil {
					return err
				}
				wrong = append(wrong, apps...)
				advice, err := d.Advise(ctx, time.Now())
				if err != nil {
					return err
				}
				versions, err := store.Read(ctx, p.Store, func(tx *store.View) ([]store.Violation, error) { return view.FailingVersions(tx, time.Now()) })
				if err != nil {
					return err
				}
				advice = append(advice, versions...)
				if asJSON {
					if err := printJSON(append(wrong, advice...), nil); err != nil {
						return err
					}
				} else {
					for _, v := range wrong {
						fmt.Printf("%v\n  Repair: %s\n", v, v.Mend)
					}
					for _, v := range advice {
						fmt.Printf("%s\n  You can: %s.\n", v.Rows[0], v.Mend)
					}
				}
				if len(wrong) > 0 {
					return fmt.Errorf("faults found: %d", len(wrong))
				}
				if !asJSON && len(advice) == 0 {
					fmt.Println("no faults found")
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&mend, "mend", false, "first repair what can be repaired without loss")
	cmd.Flags().BoolVar(&adopt, "adopt", false, "first adopt the database, even if it is empty or belongs to another project; a missing one is created, without accounts and work")
	return cmd
}

// examining returns what shows progress on a terminal, in one line that the next step replaces and
// the last one removes.
func examining(w io.Writer) func(step, steps int, rule string) {
	const clear = "\r\x1b[K"
	return func(step, steps int, rule string) {
		if step == steps {
			fmt.Fprint(w, clear)
			return
		}
		fmt.Fprintf(w, "%s%d of %d: %s", clear, step, steps, rule)
	}
}
