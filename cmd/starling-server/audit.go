package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/user"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

// changing are the commands that are recorded.
var changing = map[string]bool{
	"user add": true, "user renew-key": true, "user passwd": true, "user ban": true, "user unban": true, "user trust": true, "user untrust": true, "user delete": true,
	"app add": true, "app set": true, "app stop": true, "app start": true, "app retry": true,
	"version add": true, "version deprecate": true, "version remove": true,
	"work create": true, "work cancel": true, "work retry": true, "work set": true,
	"host ban": true, "host unban": true, "file stage": true, "file put": true, "file get": true, "file delete": true,
	"trickle send": true, "key rotate": true, "doctor": true,
	"token create": true, "token set": true, "token revoke": true,
	"token authenticator": true, // changes nothing, but reveals a secret
	"backup":              true, "restore": true, "move": true, "migrate": true,
}

// changes reports whether a command, as it was called, changes the project.
func changes(cmd *cobra.Command) bool {
	name := action(cmd)
	set := func(flag string) bool {
		on, err := cmd.Flags().GetBool(flag)
		return err == nil && on
	}
	switch {
	case !changing[name]:
		return false
	case name == "doctor":
		return set("mend") || set("adopt")
	case cmd.Flags().Lookup("yes") != nil && !set("yes"): // it then only counts, except for single workunits
		return cmd.Flags().Lookup("batch") != nil && !cmd.Flags().Changed("batch") && !cmd.Flags().Changed("app")
	}
	return true
}

func action(cmd *cobra.Command) string {
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	return name
}

// record writes a command's action into the project's database. before is the result of detail
// before the command ran.
func record(cmd *cobra.Command, p *project.Project, before string, failed error) error {
	e := store.AuditEntry{Actor: actor(), Via: "command", Action: action(cmd), Detail: before}
	if strings.Contains(before, operate.Unknown) { // an account that was made just now
		err := p.Store.View(context.WithoutCancel(cmd.Context()), func(tx *store.View) error {
			e.Detail = detail(cmd, tx)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return operate.Record(cmd.Context(), p, e, failed)
}

// detail returns the command line without the command and the project.
func detail(cmd *cobra.Command, tx *store.View) string {
	var words []string
	for i, arg := range cmd.Flags().Args() {
		if i > 0 { // the first is the project
			words = append(words, operate.Discreet(tx, arg))
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch value := f.Value.String(); {
		case f.Name == "password":
			words = append(words, "--password=(hidden)")
		case f.Value.Type() == "bool" && value == "true":
			words = append(words, "--"+f.Name)
		default:
			words = append(words, "--"+f.Name+"="+operate.Discreet(tx, value))
		}
	})
	return strings.Join(words, " ")
}

// actor returns the caller of the command: the user, and, if another one called it by sudo, that
// one.
func actor() string {
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	name = cmp.Or(name, fmt.Sprint("uid ", os.Getuid()))
	if by := os.Getenv("SUDO_USER"); by != "" && by != name {
		return by + " as " + name
	}
	return name
}

func auditCmd() *cobra.Command {
	cmd := listCmd(view.Audit)
	cmd.Use = "audit DIR"
	return cmd
}
