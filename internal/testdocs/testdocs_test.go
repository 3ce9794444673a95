package testdocs_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/testdocs"
)

func TestCalls(t *testing.T) {
	for line, want := range map[string][][]string{
		`starling status`: {{"status"}},
		`$ sudo -u starling starling mode never # x`:                                  {{"mode", "never"}},
		`key=$(starling user add --email a@b) && A=b exec bin/starling serve 2>log &`: {{"user", "add", "--email", "a@b"}, {"serve"}},
		`starling log --grep "a | b" | less`:                                          {{"log", "--grep", "VALUE"}},
		`starling drain [--then quit]`:                                                {{"drain", "--then", "quit"}},
		`starling`:                                                                    {{}},
		`chown starling file; a starling-server x`:                                    nil,
	} {
		if got := testdocs.Calls("starling", line); !reflect.DeepEqual(got, want) {
			t.Errorf("%s has the calls %q instead of %q", line, got, want)
		}
	}
}

func TestCommands(t *testing.T) {
	program := &cobra.Command{Use: "program", Example: "  program gone\n"}
	work := &cobra.Command{Use: "work", Long: `Work. See also "program work lost".`}
	do := &cobra.Command{Use: "do ITEM", Run: func(*cobra.Command, []string) {}}
	do.Flags().StringP("to", "t", "", "")
	do.Flags().Bool("fast", false, "")
	program.AddCommand(work)
	work.AddCommand(do)

	dir := t.TempDir()
	for name, text := range map[string]string{
		"README.md":                        "# A\n\n```\nprogram work do x --to=there \\\n  --slow\n```\nThen `program work do -f`, `program --help`.\n" + strings.Repeat("`program work do --fast -t here x`\n", 100),
		"docs/a.md":                        "`program work do --to --fast` and `program play`, but program rest is no code.\n",
		"examples/a/README.md":             "",
		"tools/release/A.md":               "",
		"python/a.md":                      "`program COMMAND --any`\n",
		"internal/words/catalog/de/a.json": `{"Run \"program work make\".": "\"program work do\""}`,
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wrong, err := testdocs.Commands(program, dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"README.md: program work do x --to=there --slow: program work do has no flag --slow", "README.md: program work do -f: program work do has no flag -f",
		"docs/a.md: program play: program has no command play", "internal/words/catalog/de/a.json: program work make: program work has no command make",
		"program --help: program gone: program has no command gone", "program work --help: program work lost: program work has no command lost",
	}
	if !reflect.DeepEqual(wrong, want) {
		t.Errorf("found %q\ninstead of %q", wrong, want)
	}
}

func TestBlocks(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"README.md", "python/README.md", "examples/a/README.md", "tools/release/VERIFY.md"} {
		write(name, "# Empty\n")
	}
	write("docs/a.md", "1. a\n\n   ```\n   # here\n   do \\\n     --now   # at once\n\n   # later\n   undo\n   ```\n\n```\n$ send '{\n  1}'\n{\"id\": 1}\n$ end\n```\n\n```toml\nkey = 1\n```\n")
	blocks, err := testdocs.Blocks(dir)
	if err != nil || len(blocks) != 3 {
		t.Fatal(blocks, err)
	}
	for i, want := range []struct {
		line     int
		run      bool
		commands []string
		output   string
	}{
		{4, true, []string{"do \\\n  --now   # at once", "# later", "undo"}, ""},
		{13, true, []string{"send '{\n  1}'", "end"}, "{\"id\": 1}\n"},
		{20, false, []string{"key = 1"}, ""},
	} {
		b := blocks[i]
		if b.Document != "docs/a.md" || b.Line != want.line || b.IsRun() != want.run || !reflect.DeepEqual(b.Commands(), want.commands) || b.Output() != want.output {
			t.Errorf("block %+v has the commands %q and the output %q", b, b.Commands(), b.Output())
		}
	}
	for _, text := range []string{"```\nopen\n", "```zsh\nrun\n```\n"} {
		write("docs/b.md", text)
		if blocks, err := testdocs.Blocks(dir); err == nil {
			t.Errorf("%q has the blocks %v", text, blocks)
		}
	}
}
