// Package testapp builds, for tests, an application that is linked with BOINC's
// own runtime, as projects' applications are. It needs a C++ compiler and Debian's
// libboinc-app-dev.
package testapp

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

//go:embed testdata/boincapp.cpp
var source string

var building sync.Mutex

// Build returns the path of the application, whose first argument selects its behavior. It builds
// the application once for a source and user, in the folder for temporary files. It may be called
// concurrently.
func Build() (string, error) {
	sum := sha256.Sum256([]byte(source))
	dir := filepath.Join(os.TempDir(), "starling-testapp-"+strconv.Itoa(os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	exe := filepath.Join(dir, hex.EncodeToString(sum[:6]))
	building.Lock() // two of one process would write the same part, one of them when it has its name already
	defer building.Unlock()
	if _, err := os.Stat(exe); err == nil {
		return exe, nil
	}
	part := exe + "." + strconv.Itoa(os.Getpid())
	cmd := exec.Command("g++", "-x", "c++", "-Wall", "-O1", "-I/usr/include/boinc", "-o", part, "-", "-lboinc_api", "-lboinc", "-pthread")
	cmd.Stdin = strings.NewReader(source)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build an application with g++ and libboinc-app-dev: %w: %s", err, out)
	}
	return exe, os.Rename(part, exe)
}
