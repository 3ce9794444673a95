//go:build !linux && !windows

package installer

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/kardianos/service"
)

func (s Service) config() *service.Config {
	return &service.Config{
		Name: Name, DisplayName: title, Description: description,
		Executable: s.Executable, Arguments: []string{"run", "--data", s.DataDir},
		Option: service.KeyValue{"UserService": s.PerUser, "RunAtLoad": true},
	}
}

// Installed reports whether there is a service for the whole computer.
func Installed() bool { return false }

// Do carries out v and returns a message for the user.
func (s Service) Do(v Verb) (string, error) {
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

// A program is an empty implementation of the library's interface for programs to run. launchd uses
// signals instead, see Run.
type program struct{}

func (program) Start(service.Service) error { return nil }

func (program) Stop(service.Service) error { return nil }
