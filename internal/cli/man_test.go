package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/cli"
)

func TestManPages(t *testing.T) {
	dir := t.TempDir()
	root := &cobra.Command{Use: "program", Short: "Do things"}
	sub := &cobra.Command{Use: "sub", Short: "Do one thing", Example: "  program sub --fast", Run: func(*cobra.Command, []string) {}}
	sub.Flags().Bool("fast", false, "hurry")
	root.AddCommand(sub, cli.Docs(cli.Manual{
		Files:       []cli.Entry{{Name: "/etc/program-1", About: "What it reads."}},
		Environment: []cli.Entry{{Name: "PROGRAM", About: ".hidden"}},
		Formats:     []cli.Format{{Name: "program.toml", About: "settings", Reference: func() string { return "# a\n.b = '\\'\n" }}},
	}, nil))
	root.SetArgs([]string{"docs", dir})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	page := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, "man", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	own, other, format := page("program.1"), page("program-sub.1"), page("program.toml.5")
	for _, want := range []string{".SH FILES\n.TP\n\\fB/etc/program\\-1\\fP\n", ".SH ENVIRONMENT\n.TP\n\\fBPROGRAM\\fP\n\\&.hidden\n", ".SH EXIT STATUS", ".SH SEE ALSO"} {
		if !strings.Contains(own, want) {
			t.Errorf("%q is not in\n%s", want, own)
		}
	}
	if strings.Index(own, ".SH EXIT STATUS") > strings.Index(own, ".SH SEE ALSO") {
		t.Error("the sections are in the wrong order")
	}
	if strings.Contains(other, ".SH FILES") || !strings.Contains(other, ".SH EXIT STATUS") || !strings.Contains(other, "program sub --fast") || strings.Contains(other, "[=false]") {
		t.Errorf("page of a command:\n%s", other)
	}
	for _, want := range []string{`.TH "PROGRAM.TOML" "5"`, "program.toml \\- settings", "# a\n\\&.b = '\\e'\n", "\\fBprogram(1)\\fP"} {
		if !strings.Contains(format, want) {
			t.Errorf("%q is not in\n%s", want, format)
		}
	}
}
