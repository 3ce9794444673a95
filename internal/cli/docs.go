// Package cli has the common parts of the programs' command lines: the refusal of unknown commands
// and arguments, and the man pages and completions for packages.
package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Docs returns a hidden command "docs DIR" that writes into DIR
//
//	man/NAME[-SUB…].1   a page for each command
//	man/FILE.5          a page for each file that people write
//	NAME.bash, NAME.zsh, NAME.fish, NAME.ps1
//
// of the program that it is added to. It then calls more with DIR, if not nil, to
// write the program's other files. Pages have the date of SOURCE_DATE_EPOCH, so
// that two builds of one version are the same.
func Docs(m Manual, more func(dir string) error) *cobra.Command {
	return &cobra.Command{
		Use:    "docs DIR",
		Short:  "Write man pages, shell completions and reference files, for packages",
		Args:   cobra.ExactArgs(1),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := m.write(cmd.Root(), args[0]); err != nil || more == nil {
				return err
			}
			return more(args[0])
		},
	}
}

func (m Manual) write(root *cobra.Command, dir string) error {
	man := filepath.Join(dir, "man")
	if err := os.MkdirAll(man, 0o755); err != nil { //nolint:gosec // for all to read
		return err
	}
	root.DisableAutoGenTag = true
	root.InitDefaultCompletionCmd()
	header := doc.GenManHeader{Section: "1", Source: root.Name() + " " + root.Version, Manual: "Starling"}
	if s, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		date := time.Unix(s, 0).UTC()
		header.Date = &date
	}
	name := filepath.Join(dir, root.Name())
	return errors.Join(
		doc.GenManTree(root, &header, man),
		m.complete(man, root.Name()),
		m.formats(man, root.Name(), header),
		root.GenBashCompletionFileV2(name+".bash", true),
		root.GenZshCompletionFile(name+".zsh"),
		root.GenFishCompletionFile(name+".fish", true),
		root.GenPowerShellCompletionFileWithDesc(name+".ps1"),
	)
}
