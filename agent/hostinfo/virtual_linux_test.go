package hostinfo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/protocol"
)

// The programs that run containers are replaced by scripts that answer like the real ones. The real
// ones are tried in package e2e.
func TestContainersAreFound(t *testing.T) {
	const podman = `#!/bin/sh
[ "$1" = --version ] && echo "podman version 4.9.3" && exit
[ "$1" = run ] && `
	for _, tt := range []struct {
		name     string
		programs map[string]string
		version  string
		kind     protocol.DockerType
		unusable string
	}{
		{"nothing", nil, "", protocol.NoDocker, ""},
		{"Podman", map[string]string{"podman": podman + `echo 1.0`}, "4.9.3", protocol.Podman, ""},
		{"Podman that cannot run", map[string]string{"podman": podman + `{ echo "time=1 warning" >&2; echo "Error: no namespaces" >&2; exit 125; }`}, "", protocol.NoDocker, "Podman is installed and does not work here: Error: no namespaces"},
		{"Podman under the name of Docker", map[string]string{"docker": podman + `exit 125`}, "", protocol.NoDocker, ""},
		{"Docker beside a Podman that cannot run", map[string]string{
			"podman": podman + `exit 125`,
			"docker": "#!/bin/sh\n[ \"$1\" = --version ] && echo 'Docker version 24.0.7, build afdd53b' || echo 24.0.5",
		}, "24.0.5", protocol.Docker, "Podman is installed"},
		{"Docker without its service", map[string]string{"docker": "#!/bin/sh\n[ \"$1\" = --version ] && echo 'Docker version 24.0.7, build afdd53b' && exit\necho Cannot connect >&2; exit 1"}, "", protocol.NoDocker, "Docker is installed and does not work here: Cannot connect"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tt.programs {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", dir)
			data := t.TempDir()
			v := hostinfo.FindVirtualization(t.Context(), data)
			if v.Docker != tt.version || v.DockerType != tt.kind || !strings.Contains(strings.Join(v.Unusable, "\n"), tt.unusable) || tt.unusable == "" && len(v.Unusable) > 0 {
				t.Errorf("got %+v", v)
			}
			if left, _ := os.ReadDir(data); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}
