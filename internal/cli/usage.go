package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A usageError is a command line that cannot be understood.
type usageError struct{ error }

// Unwrap returns what is wrong with it.
func (e usageError) Unwrap() error { return e.error }

// Status is what a program exits with after err: 0 for none, 2 for a command line that
// cannot be understood, and 1 otherwise.
func Status(err error) int {
	switch _, usage := errors.AsType[usageError](err); {
	case err == nil:
		return 0
	case usage:
		return 2
	}
	return 1
}

// flagError says of a flag's value what it ought to be, where the error has a parser's words
// for it.
func flagError(cmd *cobra.Command, err error) error {
	e, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return seeHelp(cmd, err)
	}
	f, want := e.GetFlag(), ""
	switch f.Value.Type() {
	case "duration":
		want = "a time span, such as 90s, 30m or 2h30m"
	case "int", "int32", "int64", "int64Slice", "intSlice":
		want = "a whole number"
	case "uint", "uint32", "uint64":
		want = "a whole number that is not negative"
	case "float64":
		want = "a number"
	case "bool":
		want = "true or false"
	default:
		return err
	}
	return fmt.Errorf("--%s: %q is not %s", f.Name, e.GetValue(), want)
}

// seeHelp says where it stands what the command line may be.
func seeHelp(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w; see: %s --help", err, cmd.CommandPath())
}

// Strict has a command and all below it refuse what they do not know, by errors that
// Status tells from others.
func Strict(cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError{flagError(cmd, err)} })
	args := cmd.Args
	cmd.Args = func(cmd *cobra.Command, list []string) error {
		switch {
		case args != nil:
			if err := args(cmd, list); err != nil {
				return usageError{seeHelp(cmd, err)}
			}
		case cmd.HasSubCommands() && len(list) > 0:
			return usageError{seeHelp(cmd, fmt.Errorf("unknown command %q for %q", list[0], cmd.CommandPath()))}
		}
		return nil
	}
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	for _, sub := range cmd.Commands() {
		Strict(sub)
	}
}
