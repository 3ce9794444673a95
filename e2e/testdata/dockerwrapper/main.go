// Dockerwrapper does with Podman what BOINC's docker_wrapper does: it builds an image from the Dockerfile in its
// slot, unless there is one of the name in job.toml, and runs it with the slot and its arguments. It is only for
// a test, and does not react to requests to stop.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/starling-grid/starling/boincapi"
)

func main() { boincapi.Run(compute) }

func compute(app *boincapi.App) error {
	var job struct {
		Workdir   string `toml:"workdir"`
		ImageName string `toml:"image_name"`
	}
	if _, err := toml.DecodeFile("job.toml", &job); err != nil {
		return err
	}
	podman := func(args ...string) (string, error) {
		out, err := exec.CommandContext(app.Context(), "podman", args...).CombinedOutput() //nolint:gosec // of the test
		if err != nil {
			err = fmt.Errorf("podman %s: %w\n%s", args[0], err, out)
		}
		return string(out), err
	}
	container := "boinc__test__" + strings.ToLower(app.InitData().ResultName)
	images, err := podman("images")
	if err == nil && !strings.Contains(images, job.ImageName+" ") {
		_, err = podman("build", ".", "-t", job.ImageName, "-f", "Dockerfile")
	}
	if err == nil {
		_, err = podman("create", "--name", container, "-v", "./:"+job.Workdir, "-e", "ARGS= "+strings.Join(os.Args[1:], " "), job.ImageName)
	}
	if err == nil {
		_, err = podman("start", "--attach", container)
	}
	if err == nil {
		_, err = podman("rm", container)
	}
	return err
}
