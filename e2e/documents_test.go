package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testdocs"
)

// tested maps each block of commands in the documents to the test that runs it, or to the reason why
// no test does. A block is named by its document and by the start of its first command. The longest
// start counts, and "" is any block.
var tested = map[string]map[string]string{
	"CONTRIBUTING.md": {"": "every change is tested by these commands"},
	"README.md":       {"": "TestReadme"},

	"docs/scientists.md":     {"": "TestScientist"},
	"docs/templates.md":      {"": "TestScientist"},
	"docs/plain-programs.md": {"": "TestScientist"},
	"docs/programs.md":       {"": "TestScientist"},
	"docs/api.md": {
		"":                         "TestScientist",
		"secret = ":                "TestSignature",
		"from boinc_submit import": "TestBOINCSubmit",
	},
	"docs/images.md": {
		"":              "TestScientist",
		"sudo sh -c 's": "AppArmor of Ubuntu; TestProfileForUbuntu compiles such a profile",
	},
	"python/README.md": {"": "TestScientist"},
	"docs/python.md": {
		"":                           "python/tests/test_documents.py",
		"export STARLING_URL":        "TestScientist",
		"starling-server app add":    "an image from a registry on the internet; python/tests/test_functions.py publishes one like it",
		"python3 -m starling_grid >": "TestScientist",
		"rule shout:":                "python/tests/test_snakemake.py",
	},

	"docs/testing.md": {
		"":           "TestDeveloper",
		"podman run": "the server in podman; TestImage runs the agent in it",
	},
	"tools/release/VERIFY.md": {
		"":          "TestVerifyingARelease",
		"git clone": "a published release; TestRelease builds each file twice",
	},

	"docs/volunteers.md": {
		"":                           "TestVolunteer",
		"sudo apt install ./starl":   "TestDebianPackage",
		"sudo install bin/starling":  "TestServiceOfSystemd",
		"starling attach":            "TestScripts",
		"starling attach https://pr": "TestVolunteer",
	},
	"docs/preferences.md": {"": "TestVolunteer"},
	"docs/computers.md":   {"": "TestVolunteer"},
	"docs/gpus.md":        {"starling prefs set": "TestVolunteer"},
	"docs/advanced.md":    {"podman pull": "TestImage"},
	"docs/coming-from-boinc.md": {
		"sudo systemctl disable": "TestImportFromBOINC",
		"starling nomorework":    "TestExportToBOINC",
		"boincmgr":               "TestManager",
	},
	"docs/security.md": {"icacls": "a command of Windows"},

	"docs/operators.md": {
		"starling-server work list myproject ":    "TestOperator",
		"starling-server work retry myproject ":   "TestOperator",
		"starling-server audit myproject ":        "TestOperator",
		"starling-server user list myproject ":    "TestOperator",
		"starling-server key create ":             "TestOperator",
		"starling-server version list myproject ": "TestOperator",
		"starling-server backup myproject ":       "TestOperator",
		"starling-server move myproject ":         "TestOperator",
		"mv myproject myproject.new":              "TestOperator",
		"starling-server serve myproject ":        "TestOperator",
		"starling-server admin myproject ":        "TestOperator",

		"sudo apt install ./starling-server_":              "TestHandbook",
		"starling-server init mine ":                       "TestHandbook",
		"sudo install -o starling-server":                  "TestHandbook",
		"sudo systemctl enable --now starling-server@mine": "TestHandbook",
		"printf ":                                          "TestHandbook",
		"sudo apt install ./starling_":                     "TestHandbook",
		"sudo apt install boinc-client":                    "TestHandbook",
		"sudo apt install postgresql":                      "TestHandbook",
		"starling-server token create mine ":               "TestHandbook",
		"starling-server remote submit ":                   "TestHandbook",
		"starling-server version list mine":                "TestHandbook",
		"starling-server backup mine ":                     "TestHandbook",
		"sudo systemctl enable --now starling-server@copy": "TestHandbook",
	},
	"docs/pipeline.md":    {"starling-server work retry demo ": "TestOperator"},
	"docs/performance.md": {"": "TestDeveloper"},
	"docs/servers.md":     {"starling-server serve p ": "TestOperator"},
}

// untyped maps commands in blocks that a test types to the reason why it leaves them out. A command is
// named by its start.
var untyped = map[string]string{
	"docker build": "a Docker daemon; the image is made as docker save writes it",
	"ssh -L 8081":  "another computer",
	"starling-server move myproject --db postgres:": "TestHandbook moves a project to PostgreSQL",
	"starling-server move myproject --files 's3:":   "TestMoveFiles",
}

// TestDocuments requires that every block of commands in the documents is run by a test, or has a
// reason why it cannot be.
func TestDocuments(t *testing.T) {
	t.Parallel()
	blocks, err := testdocs.Blocks("..")
	must(t, err)
	used := make(map[string]bool)
	for _, b := range blocks {
		if !b.IsRun() {
			continue
		}
		if start, test := testOf(b); test != "" {
			used[b.Document+start] = true
		} else {
			t.Errorf("no test runs the block at %s:%d: %s", b.Document, b.Line, b.Commands()[0])
		}
	}
	tests, text := testNames(t), ""
	for _, b := range blocks {
		text += strings.Join(b.Commands(), "\n") + "\n"
	}
	for start, test := range untyped {
		if !strings.Contains("\n"+text, "\n"+start) || !strings.Contains(test, " ") && !tests[test] {
			t.Errorf("there is no command %q, or no test %s", start, test)
		}
	}
	for document, starts := range tested {
		for start, test := range starts {
			if !used[document+start] {
				t.Errorf("%s has no block that starts with %q", document, start)
			}
			if !strings.Contains(test, " ") && !tests[test] {
				t.Errorf("%s: there is no test %s of the block that starts with %q", document, test, start)
			}
		}
	}
}

// testOf returns the start by which a block is listed, and its test or the reason why no test runs it.
func testOf(b testdocs.Block) (start, test string) {
	command := b.Commands()[0]
	for s, name := range tested[b.Document] {
		if strings.HasSuffix(name, ".py") && b.Language == "" {
			continue // tests in Python run only programs in Python
		}
		if strings.HasPrefix(command, s) && (test == "" || len(s) > len(start)) {
			start, test = s, name
		}
	}
	return start, test
}

// testNames returns the names of all tests in Go, and the paths of those in Python.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := make(map[string]bool)
	functions := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, pattern := range []string{"../*/*_test.go", "../*/*/*_test.go", "../python/tests/test_*.py"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no tests at %s, %v", pattern, err)
		}
		for _, file := range files {
			names[strings.TrimPrefix(filepath.ToSlash(file), "../")] = true
			text, err := os.ReadFile(file)
			must(t, err)
			for _, m := range functions.FindAllStringSubmatch(string(text), -1) {
				names[m[1]] = true
			}
		}
	}
	return names
}
