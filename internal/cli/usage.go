package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/starling-grid/starling/internal/nearest"
)

// A usageError is a command line that cannot be understood.
type usageError struct{ error }

// Unwrap returns the underlying error.
func (e usageError) Unwrap() error { return e.error }

// Status returns a program's exit status after err: 0 without an error, 2 for a command line that
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

// flagError describes the values that a flag takes, in place of a parser's error.
func flagError(cmd *cobra.Command, err error) error {
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok && strings.ContainsAny(e.GetSpecifiedShortnames(), "0123456789") {
		err = fmt.Errorf("-%s is read as a flag; to pass a negative number, put -- before it", e.GetSpecifiedShortnames())
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok && e.GetSpecifiedShortnames() == "" {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		err = meant(err, "--", nearest.Word(e.GetSpecifiedName(), names))
	}
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

// exclusive returns an error that names two flags of the command line that exclude each other.
func exclusive(cmd *cobra.Command) (err error) {
	seen := make(map[string]string)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		for _, group := range f.Annotations["cobra_annotation_mutually_exclusive"] { // without it, cobra refuses them in its own words
			if other := seen[group]; other != "" {
				err = usageError{seeHelp(cmd, fmt.Errorf("--%s and --%s cannot be used together", other, f.Name))}
			}
			seen[group] = f.Name
		}
	})
	return err
}

// missing returns an error that names the flags that the command line lacks. Without it, cobra names them in its
// own words.
func missing(cmd *cobra.Command) error {
	var required []string
	var err error
	flags := cmd.Flags()
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Annotations[cobra.BashCompOneRequiredFlag] != nil && !f.Changed {
			required = append(required, "--"+f.Name)
		}
		for _, group := range f.Annotations["cobra_annotation_one_required"] {
			names := strings.Fields(group)
			if !slices.ContainsFunc(names, flags.Changed) {
				err = fmt.Errorf("one of --%s is required", strings.Join(names, " and --"))
			}
		}
	})
	switch {
	case len(required) == 1:
		err = fmt.Errorf("%s is required", required[0])
	case required != nil:
		err = fmt.Errorf("%s are required", strings.Join(required, " and "))
	}
	if err != nil {
		err = usageError{seeHelp(cmd, err)}
	}
	return err
}

// unknown is the error about a subcommand that does not exist, with the most similar one.
func unknown(cmd *cobra.Command, word string) error {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	err := fmt.Errorf("unknown command %q for %q", word, cmd.CommandPath())
	return seeHelp(cmd, meant(err, "", nearest.Word(word, names)))
}

// meant adds the nearest known word to an error about an unknown one, if one is near.
func meant(err error, prefix, nearest string) error {
	if nearest == "" {
		return err
	}
	return fmt.Errorf("%w, did you mean %s%s?", err, prefix, nearest)
}

// misfit is the error about arguments that a command does not accept. refused is the same in cobra's words.
func misfit(cmd *cobra.Command, accepts cobra.PositionalArgs, list []string, refused error) error {
	names := required(cmd)
	if len(list) < len(names) {
		verb := "is"
		if len(names) > 1 {
			verb = "are"
		}
		refused = fmt.Errorf("%s %s required", strings.Join(names, " and "), verb)
		if len(list) > 0 {
			refused = fmt.Errorf("%w, and there is only %q", refused, strings.Join(list, " "))
		}
	} else {
		for n := range list {
			if accepts(cmd, list[:n]) == nil {
				refused = fmt.Errorf("unexpected argument %q", list[n])
			}
		}
	}
	return seeHelp(cmd, fmt.Errorf("%w; usage: %s", refused, cmd.UseLine()))
}

// required are the names of the arguments that a command cannot do without.
func required(cmd *cobra.Command) (names []string) {
	for _, name := range strings.Fields(cmd.Use)[1:] {
		if strings.ContainsAny(name[:1], "[{-") {
			break
		}
		if name = strings.TrimRight(name, ".…"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// seeHelp adds a pointer to the command's help.
func seeHelp(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w; see: %s --help", err, cmd.CommandPath())
}

// Strict makes a command and its subcommands refuse unknown subcommands, flags and arguments.
// Status recognizes these errors.
func Strict(cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError{flagError(cmd, err)} })
	args := cmd.Args
	cmd.Args = func(cmd *cobra.Command, list []string) error {
		if cmd.HasSubCommands() && len(list) > 0 && (args == nil || args(cmd, list[:1]) != nil) {
			return usageError{unknown(cmd, list[0])}
		}
		if args != nil {
			if err := args(cmd, list); err != nil {
				return usageError{misfit(cmd, args, list, err)}
			}
		}
		return cmp.Or(exclusive(cmd), missing(cmd))
	}
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	for _, sub := range cmd.Commands() {
		Strict(sub)
	}
}
