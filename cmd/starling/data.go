package main

import (
	"os"
	"path/filepath"
	"runtime"
)

// defaultData is where the agent keeps its files unless told otherwise: the
// system's place for services when run as the administrator, else the user's.
func defaultData() string {
	if d := os.Getenv("STARLING_DATA"); d != "" {
		return d
	}
	home, _ := os.UserHomeDir()
	switch runtime.GOOS {
	case "windows":
		return filepath.Join(os.Getenv("ProgramData"), "Starling")
	case "darwin":
		if os.Geteuid() == 0 {
			return "/Library/Application Support/Starling"
		}
		return filepath.Join(home, "Library", "Application Support", "Starling")
	}
	if os.Geteuid() == 0 {
		return "/var/lib/starling"
	}
	if d := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "starling")
	}
	return filepath.Join(home, ".local", "share", "starling")
}
