package operate

import (
	"fmt"
	"path/filepath"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/server/workgen"
)

// pythonRunner is the logical name of the program that runs Python functions.
const pythonRunner = "run_python.py"

// addPython makes the image's python3 run the version's Python program, which it writes to dir.
func (v *NewVersion) addPython(dir string) error {
	if v.Image != nil {
		if _, err := v.Image.Find("python3"); err != nil {
			return fmt.Errorf("%w: --python needs an image with Python, for example one with FROM python:3-slim in its Dockerfile", err)
		}
	}
	path := filepath.Join(dir, pythonRunner)
	v.Files = append(v.Files, workgen.Given{Path: path})
	v.Job.command = []string{"python3", pythonRunner, "--image"}
	return atomicfile.Write(path, v.Python, 0o644)
}
