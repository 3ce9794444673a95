// Container is an application that does its work in a container, as BOINC's docker_wrapper
// does. It makes an image of the file image.tar, runs it with a folder of its slot, and removes it.
// It is only for a test, and does not react to requests to stop.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/starling-grid/starling/boincapi"
)

func main() { boincapi.Run(compute) }

func compute(app *boincapi.App) error {
	host := app.InitData().HostInfo
	program := map[bool]string{true: "docker", false: "podman"}[strings.Contains(host, "<docker_type>1<")]
	if !strings.Contains(host, "<docker_version>") {
		return fmt.Errorf("init_data.xml names nothing that runs containers: %s", host)
	}
	var paths []string
	for _, name := range []string{"image.tar", "in", "out"} {
		path, err := app.Resolve(name)
		if err != nil {
			return err
		}
		paths = append(paths, path)
	}
	text, err := os.ReadFile(paths[1])
	if err != nil {
		return err
	}
	work, err := filepath.Abs("work")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(work, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(work, "in"), text, 0o600); err != nil {
		return err
	}
	image := "boinc_" + strings.ToLower(app.InitData().ResultName)
	for _, args := range [][]string{
		{"import", paths[0], image},
		{"run", "--rm", "--network", "none", "--volume", work + ":/work", "--workdir", "/work", image, "/contained"},
		{"image", "rm", "--force", image},
	} {
		cmd := exec.CommandContext(app.Context(), program, args...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s %s: %w\n%s", program, args[0], err, out)
		}
	}
	text, err = os.ReadFile(filepath.Join(work, "out"))
	if err != nil {
		return err
	}
	return os.WriteFile(paths[2], text, 0o600)
}
