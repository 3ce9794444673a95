package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/operate/backup"
	"github.com/starling-grid/starling/server/project"
)

func backupCmd() *cobra.Command {
	var o backup.Options
	cmd := &cobra.Command{
		Use:   "backup DIR TO",
		Short: "Write a backup of the project, also while it is served",
		Long: "Write a backup of the project: settings, keys, the database in one state, and all files.\n\n" +
			"TO is a new or empty folder, or a new file whose name ends with .tar, .tar.gz or .tgz. The servers may be\n" +
			"running; they delete no files until the backup is done. The database is stored as an SQLite file, also if\n" +
			"it is on PostgreSQL, so a backup can be restored on either. It contains the project's private keys and the\n" +
			"account keys: keep it as safe as those.",
		Example: "  starling-server backup myproject /backups/myproject-$(date +%F).tar.gz",
		Args:    cobra.ExactArgs(2),
		RunE: inProject(func(ctx context.Context, p *project.Project, args []string) error {
			rep, err := backup.Write(ctx, p, args[1], o)
			if err == nil {
				fmt.Printf("Backup of %s written to %s: %s.\n", rep.Project, args[1], contents(rep))
			}
			return err
		}),
	}
	cmd.Flags().BoolVar(&o.WithoutFiles, "without-files", false, "leave out the input, output and program files, for example of a bucket that has its own backup")
	return cmd
}

// contents returns a summary of a backup's contents.
func contents(rep backup.Report) string {
	return fmt.Sprintf("%s, %s, %d rows in the database", words.Count(rep.Files, "file"), words.Bytes(rep.Bytes), rep.Census.Rows())
}

func restoreCmd() *cobra.Command {
	var w backup.Where
	var check bool
	cmd := &cobra.Command{
		Use:   "restore BACKUP DIR",
		Short: "Make a project of a backup",
		Long: "Make a project of a backup in DIR, a new or empty folder. Every file is compared with its checksum, the\n" +
			"database is read again after it was written, and the project is examined as by \"doctor\".\n\n" +
			"The settings are those of the backup, unless flags change them. A PostgreSQL database must be empty;\n" +
			"so must a bucket, unless --files names it. Do not serve the original and the copy at the same time under\n" +
			"one URL: each would send the same tasks.",
		Example: "  starling-server restore /backups/myproject.tar.gz myproject\n" +
			"  starling-server restore /backups/myproject.tar.gz copy --db local --url http://192.0.2.7:8081/copy/\n" +
			"  starling-server restore --check /backups/myproject.tar.gz",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if check != (len(args) == 1) {
				return errors.New("restore needs BACKUP and DIR, or --check and BACKUP")
			}
			if check {
				rep, err := backup.Check(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				fmt.Printf("The backup of %s of %s is complete: %s.\n", rep.Project, rep.Created.Format("2006-01-02 15:04 MST"), contents(rep))
				return nil
			}
			log, err := newLog(cmd)
			if err != nil {
				return err
			}
			rep, err := backup.Restore(cmd.Context(), args[0], args[1], w, log)
			if err != nil {
				return err
			}
			fmt.Printf("%s restored in %s as of %s: %s.\n", rep.Project, args[1], rep.Created.Format("2006-01-02 15:04 MST"), contents(rep))
			return withProject(cmd, args[1], func(ctx context.Context, p *project.Project) error {
				wrong, err := operate.Doctor(p).Examine(ctx)
				if err != nil {
					return err
				}
				for _, v := range wrong {
					fmt.Printf("%v\n  Repair: %s\n", v, v.Mend)
				}
				if len(wrong) > 0 {
					return fmt.Errorf("the project is restored; faults found: %d", len(wrong))
				}
				fmt.Printf("No faults found. Start it with: starling-server serve %s\n", words.Shell(args[1]))
				return nil
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&w.Database, "db", "", "an empty PostgreSQL database, postgres://USER:PASSWORD@HOST/NAME, or \"local\" for SQLite in DIR (default: as in the backup)")
	f.StringVar(&w.Files, "files", "", "a bucket, s3://BUCKET/PREFIX?endpoint=HOST:PORT, or \"local\" for folders in DIR (default: as in the backup)")
	f.StringVar(&w.MasterURL, "url", "", "the address that volunteers attach to (default: as in the backup)")
	f.StringVar(&w.Listen, "listen", "", "address to listen on (default: as in the backup, or the port of --url)")
	f.StringVar(&w.AdminListen, "admin-listen", "", "address for metrics, health checks and profiles (default: as in the backup; none with --url)")
	f.BoolVar(&check, "check", false, "only read the backup and compare its checksums")
	return cmd
}
