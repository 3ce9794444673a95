// Package installer makes the agent a service of the operating system: of systemd,
// launchd or Windows, for the whole computer or for one user.
package installer

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// Name is the name of the service and of the user that it runs as.
const Name = "starling"

// A Service is the service to be installed or controlled.
type Service struct {
	Executable string // absolute path of the agent's program
	DataDir    string // absolute
	PerUser    bool   // for the current user, without administrator rights
}

// Packaged is the service that packages install.
var Packaged = Service{Executable: "/usr/bin/starling", DataDir: stateRoot + "/starling"}

// A Verb is something that can be done with a service.
type Verb string

// The verbs.
const (
	Install   Verb = "install"
	Uninstall Verb = "uninstall"
	Start     Verb = "start"
	Stop      Verb = "stop"
	Restart   Verb = "restart"
	Status    Verb = "status"
)

// Group returns the group whose members may control the agent of this process: the service's group
// if this process is the service, or else "".
func Group() string {
	if g, err := user.LookupGroupId(strconv.Itoa(os.Getegid())); err == nil && g.Name == Name {
		return Name
	}
	return ""
}

// Own returns the service for the running program.
func Own(dataDir string, perUser bool) (Service, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return Service{}, fmt.Errorf("find this program: %w", err)
	}
	dataDir, err = filepath.Abs(dataDir)
	return Service{Executable: self, DataDir: dataDir, PerUser: perUser}, err
}
