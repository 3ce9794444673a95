//go:build !linux

package installer

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/kardianos/service"

	"github.com/starling-grid/starling/internal/serviceuser"
)

func (s Service) config() *service.Config {
	c := &service.Config{
		Name: Name, DisplayName: "Starling", Description: "Runs scientific computations while this computer is idle",
		Executable: s.Executable, Arguments: []string{"run", "--data", s.DataDir},
		Option: service.KeyValue{"UserService": s.PerUser, "RunAtLoad": true, "OnFailure": "restart"},
	}
	if runtime.GOOS == "windows" {
		c.UserName = serviceuser.Account(Name) // has no rights but to its own files
	}
	return c
}

// Installed reports whether there is a service for the whole computer.
func Installed() bool { return false } // Windows' is found by Status

// Do does it and returns what there is to tell.
func (s Service) Do(v Verb) (string, error) {
	if s.PerUser && runtime.GOOS == "windows" {
		return "", errors.New("Windows has no per-user services; use the Task Scheduler to start \"starling run\" at log-on")
	}
	if !s.PerUser && runtime.GOOS == "darwin" {
		return "", errors.New("launchd would run the projects' applications as root; use --user for a service that runs as you")
	}
	svc, err := service.New(program{}, s.config())
	if err != nil {
		return "", err
	}
	if v != Status {
		if err := service.Control(svc, string(v)); err != nil {
			return "", err
		}
		if v == Install {
			return "Installed and started the service. Its data is in " + s.DataDir, svc.Start()
		}
		return "", nil
	}
	st, err := svc.Status()
	if err != nil {
		return "", err
	}
	names := map[service.Status]string{service.StatusRunning: "active", service.StatusStopped: "inactive"}
	if name, ok := names[st]; ok {
		return name, nil
	}
	return "", fmt.Errorf("status %d", st)
}
