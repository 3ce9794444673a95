package operate

import (
	"path/filepath"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/server/workgen"
)

// pythonRunner is the logical name of the program that runs Python functions.
const pythonRunner = "run_python.py"

// addPython makes the image's python3 run the version's Python program, which it writes to dir.
func (v *NewVersion) addPython(dir string) error {
	path := filepath.Join(dir, pythonRunner)
	v.Files = append(v.Files, workgen.Given{Path: path})
	v.Job.command = []string{"python3", pythonRunner, "--image"}
	return atomicfile.Write(path, v.Python, 0o644)
}
