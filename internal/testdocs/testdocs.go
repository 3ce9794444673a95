// Package testdocs compares texts with a program, for tests: the command lines in documents, messages
// and help must name its commands and flags.
package testdocs

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// Commands returns the mistakes in the command lines of a program that are in the documents, in the
// messages with their translations, and in the program's help. root is the module's folder.
func Commands(program *cobra.Command, root string) (wrong []string, err error) {
	seen := 0
	look := func(where string, lines []string) {
		for _, line := range lines {
			for _, args := range Calls(program.Name(), line) {
				seen++
				if err := check(program, args); err != nil {
					wrong = append(wrong, fmt.Sprintf("%s: %s %s: %v", where, program.Name(), strings.Join(args, " "), err))
				}
			}
		}
	}
	err = each(root, documents, func(name, text string) error {
		look(name, code(text))
		return nil
	})
	if err == nil {
		err = each(root, catalogs, func(name, text string) error {
			look(name, pieces(inJSON, text))
			return nil
		})
	}
	if err != nil {
		return nil, err
	}
	help(program, look)
	if seen < 100 {
		return nil, fmt.Errorf("only %d command lines of %s were found", seen, program.Name())
	}
	return wrong, nil
}

// documents and catalogs are the texts that people read, below the module's folder.
var (
	documents = []string{"*.md", "docs/*.md", "python/*.md", "examples/*/*.md", "tools/release/*.md"}
	catalogs  = []string{"internal/words/catalog/*/*.json"}
)

// each calls f with all files that match a pattern, by their paths below root, with slashes.
func each(root string, patterns []string, f func(name, text string) error) error {
	files := os.DirFS(root)
	for _, pattern := range patterns {
		names, err := fs.Glob(files, pattern)
		if err != nil || len(names) == 0 {
			return fmt.Errorf("%s has no %s: %w", root, pattern, err)
		}
		for _, name := range names {
			text, err := fs.ReadFile(files, name)
			if err == nil {
				err = f(name, string(text))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// help looks at the help of a command and of those below it.
func help(cmd *cobra.Command, look func(where string, lines []string)) {
	look(cmd.CommandPath()+" --help", append(pieces(inQuotes, cmd.Long), strings.Split(cmd.Example, "\n")...))
	for _, sub := range cmd.Commands() {
		help(sub, look)
	}
}

var (
	inBackquotes = regexp.MustCompile("`([^`\n]+)`")
	inQuotes     = regexp.MustCompile(`"([^"]*)"`)
	inJSON       = regexp.MustCompile(`\\"([^"\\]*)\\"`) // quotes in a text in JSON
)

// code returns the lines of all code blocks of a document, and its pieces in backquotes.
func code(text string) (lines []string) {
	for _, m := range fenced.FindAllStringSubmatch(text, -1) {
		lines = append(lines, strings.Split(strings.ReplaceAll(m[3], "\\\n", " "), "\n")...)
	}
	return append(lines, pieces(inBackquotes, fenced.ReplaceAllString(text, ""))...)
}

// pieces returns the pieces of a text that are in quotes.
func pieces(quotes *regexp.Regexp, text string) (all []string) {
	for _, m := range quotes.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

var (
	quoted    = regexp.MustCompile(`"[^"]*"|'[^']*'`)
	separator = regexp.MustCompile(`[;|()<>]|&&?|\d>| #`)
	call      = regexp.MustCompile(`^(?:\$ |[A-Za-z_]+=\S+ |sudo |-u \S+ |exec |podman exec \S+ |/usr/bin/|bin/|\./)*([a-z-]+)(?: (.*))?$`)
)

// Calls returns the arguments of each call of a program in a line of a shell.
func Calls(program, line string) (calls [][]string) {
	line = quoted.ReplaceAllString(line, "VALUE")
	for _, piece := range separator.Split(line, -1) {
		if m := call.FindStringSubmatch(strings.TrimSpace(piece)); m != nil && m[1] == program {
			calls = append(calls, strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(m[2])))
		}
	}
	return calls
}

// check reports the first argument that is neither a command nor a flag of the program.
func check(program *cobra.Command, args []string) error {
	program.InitDefaultVersionFlag()
	cmd := program
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case strings.Trim(word, "-") == "":
		case strings.HasPrefix(word, "-"):
			cmd.InitDefaultHelpFlag()
			name, _, valued := strings.Cut(strings.TrimLeft(word, "-"), "=")
			flag := cmd.Flag(name)
			if !strings.HasPrefix(word, "--") {
				flag = cmd.Flags().ShorthandLookup(name[:1])
			}
			if flag == nil {
				return fmt.Errorf("%s has no flag %s", cmd.CommandPath(), word)
			}
			if flag.NoOptDefVal == "" && !valued {
				i++ // its value
			}
		case cmd.HasSubCommands():
			if word == strings.ToUpper(word) {
				return nil // a placeholder like COMMAND or …
			}
			sub, _, err := cmd.Find([]string{word})
			if err != nil || sub == cmd {
				return fmt.Errorf("%s has no command %s", cmd.CommandPath(), word)
			}
			cmd = sub
		}
	}
	return nil
}
