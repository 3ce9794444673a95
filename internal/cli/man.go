package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra/doc"
)

// A Manual has the parts of a program's man pages that its commands' help lacks.
type Manual struct {
	Files, Environment []Entry // of the page of the program itself
	Formats            []Format
}

// An Entry is a file or a variable of the environment.
type Entry struct{ Name, About string }

// A Format is a file that people write. It has a page in section 5.
type Format struct {
	Name, About string
	Reference   func() string // a file with every key and its meaning
}

// complete adds the sections that every page has, and the sections of the program's own page, to
// the pages of a folder.
func (m Manual) complete(dir, program string) error {
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		return err
	}
	for _, path := range pages {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b = bytes.ReplaceAll(b, []byte("[=false]"), nil) // of flags without a value
		more := section("EXIT STATUS", []Entry{{"0", "Success."}, {"1", "The command failed; standard error says why."}, {"2", "The command line cannot be understood."}})
		if filepath.Base(path) == program+".1" {
			more = section("FILES", m.Files) + section("ENVIRONMENT", m.Environment) + more
		}
		at := bytes.Index(b, []byte("\n.SH SEE ALSO"))
		if at < 0 {
			at = len(b)
		}
		if err := os.WriteFile(path, append(append(bytes.Clone(b[:at]), "\n"+more...), b[at:]...), 0o644); err != nil { //nolint:gosec // for all to read
			return err
		}
	}
	return nil
}

func section(title string, entries []Entry) string {
	if len(entries) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, ".SH %s\n", title)
	for _, e := range entries {
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fP\n%s\n", roff(e.Name), roff(e.About))
	}
	return b.String()
}

// formats writes the pages of section 5.
func (m Manual) formats(dir, program string, h doc.GenManHeader) error {
	date := ""
	if h.Date != nil {
		date = h.Date.Format(time.DateOnly)
	}
	for _, f := range m.Formats {
		page := fmt.Sprintf(".TH %q %q %q %q %q\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\nA file with every key, its meaning, unit, range and default:\n.PP\n.EX\n%s.EE\n.SH SEE ALSO\n\\fB%s(1)\\fP\n",
			strings.ToUpper(f.Name), "5", date, h.Source, h.Manual, roff(f.Name), roff(f.About), roff(f.Reference()), program)
		if err := os.WriteFile(filepath.Join(dir, f.Name+".5"), []byte(page), 0o644); err != nil { //nolint:gosec // for all to read
			return err
		}
	}
	return nil
}

// roff is a text as man pages have it.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
