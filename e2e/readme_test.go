package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// elsewhere maps commands of the README that other tests run to the names of those tests.
var elsewhere = map[string]string{
	"sudo apt install ./dist/starling_*_amd64.deb": "TestDebianPackage",
	"sudo usermod -aG starling $USER":              "TestDebianPackage",
	"starling attach":                              "cmd/starling: attach.txtar, on a terminal",
	"starling status":                              "TestDebianPackage",
	"starling dashboard":                           "TestDashboard, without opening a browser by itself",
	"sudo systemctl disable --now boinc-client":    "a command of systemd",
	"sudo starling import /var/lib/boinc-client":   "TestImportFromBOINC",
	"make demo":  "TestDemo",
	"make build": "TestMain builds the same programs",
	"make test":  "whoever runs this",
}

// TestReadme runs the README's commands. A shell runs those of the project in ten minutes exactly
// as written.
func TestReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	must(t, err)
	script := ""
	for _, block := range regexp.MustCompile("(?s)\n```\n(.*?)\n```\n").FindAllStringSubmatch(string(text), -1) {
		if strings.HasPrefix(block[1], "starling-server init") {
			script = block[1]
			continue
		}
		for line := range strings.Lines(block[1]) {
			command, _, _ := strings.Cut(line, " #")
			if command = strings.TrimSpace(command); command != "" && elsewhere[command] == "" {
				t.Errorf("no test runs %q", command)
			}
		}
	}
	if script == "" {
		t.Fatal("there is no project in the README")
	}

	ctx := patience(t)
	port := freePort(t)
	a := newAgent(t, "a")
	must(t, a.Start())
	must(t, a.Reach(ctx))
	script = "set -eu\ntrap 'kill $!' EXIT\n" + strings.ReplaceAll(script, ":8080/", fmt.Sprintf(":%d/", port))
	// On a busy computer the server is not ready when attach runs.
	const serve = "starling-server serve demo"
	if strings.Count(script, serve) != 1 {
		t.Fatalf("the README does not say %q", serve)
	}
	script = strings.Replace(script, serve, "(sleep 2; exec "+serve+")", 1)
	sh := exec.CommandContext(ctx, "sh", "-c", script)
	sh.Dir = t.TempDir()
	sh.Env = append(os.Environ(), "PATH="+string(bin)+":"+os.Getenv("PATH"), "STARLING_DATA="+a.Dir)
	out, err := sh.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{"HELLO\n", "Attached to Demo"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in what it printed:\n%s", want, out)
		}
	}
}
