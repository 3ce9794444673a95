package installer

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/eventlog"
	"golang.org/x/sys/windows/svc/mgr"

	"github.com/starling-grid/starling/internal/serviceuser"
)

// rights are the access rights that each verb needs. Ordinary users may only request the status.
var rights = map[Verb]uint32{
	Uninstall: windows.SERVICE_ALL_ACCESS,
	Start:     windows.SERVICE_START | windows.SERVICE_QUERY_STATUS,
	Stop:      windows.SERVICE_STOP | windows.SERVICE_QUERY_STATUS,
	Restart:   windows.SERVICE_START | windows.SERVICE_STOP | windows.SERVICE_QUERY_STATUS,
	Status:    windows.SERVICE_QUERY_STATUS,
}

// Installed reports whether there is a service for the whole computer.
func Installed() bool {
	s, err := open(windows.SERVICE_QUERY_STATUS)
	if err == nil {
		_ = s.Close()
	}
	return err == nil
}

// Do carries out v and returns a message for the user.
func (s Service) Do(v Verb) (string, error) {
	if s.PerUser {
		return "", errors.New("there are no per-user services on Windows; use the Task Scheduler to start \"starling run\" at log-on")
	}
	told, err := s.do(v)
	switch {
	case errors.Is(err, windows.ERROR_ACCESS_DENIED):
		err = fmt.Errorf("only administrators can %s the service; repeat the command in a terminal that was opened with \"Run as administrator\"", v)
	case errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST):
		err = errors.New("the service is not installed; install it with: starling service install")
	}
	return told, err
}

func (s Service) do(v Verb) (string, error) {
	if v == Install {
		return s.install()
	}
	svc, err := open(rights[v])
	if err != nil {
		return "", err
	}
	defer svc.Close()
	switch v {
	case Uninstall:
		err = errors.Join(stop(svc), svc.Delete())
		if err == nil {
			err = eventlog.Remove(source)
		}
		return "Removed the service. Tasks and settings are kept in " + s.DataDir, err
	case Start:
		return "", start(svc)
	case Stop:
		return "", stop(svc)
	case Restart:
		if err := stop(svc); err != nil {
			return "", err
		}
		return "", start(svc)
	case Status:
		return status(svc)
	}
	return "", fmt.Errorf("unknown action %q for a service", v)
}

// open returns the service, which the caller closes. It does not use x/sys/windows/svc/mgr, because
// that requests more access than the manager grants to users who are not administrators.
func open(access uint32) (*mgr.Service, error) {
	manager, err := windows.OpenSCManager(nil, nil, windows.SC_MANAGER_CONNECT)
	if err != nil {
		return nil, err
	}
	defer func() { _ = windows.CloseServiceHandle(manager) }()
	name, err := windows.UTF16PtrFromString(Name)
	if err != nil {
		return nil, err
	}
	h, err := windows.OpenService(manager, name, access)
	if err != nil {
		return nil, err
	}
	return &mgr.Service{Name: Name, Handle: h}, nil
}

// install creates the service, with a separate account that has rights only to the data directory,
// and starts it.
func (s Service) install() (string, error) {
	m, err := mgr.Connect()
	if err != nil {
		return "", err
	}
	defer func() { _ = m.Disconnect() }()
	if Installed() {
		return "", errors.New("the service is already installed; remove it first with: starling service uninstall")
	}
	if err := makeData(s.DataDir); err != nil {
		return "", err
	}
	svc, err := m.CreateService(Name, s.Executable, mgr.Config{
		DisplayName: title, Description: description, StartType: mgr.StartAutomatic,
		ServiceStartName: serviceuser.Account(Name),
	}, "run", "--data", s.DataDir)
	if err != nil {
		return "", err
	}
	defer svc.Close()
	again := func(after time.Duration) mgr.RecoveryAction {
		return mgr.RecoveryAction{Type: mgr.ServiceRestart, Delay: after}
	}
	const forgotten = 10 * time.Minute // time after which a failure counts as the first again
	err = svc.SetRecoveryActions([]mgr.RecoveryAction{again(10 * time.Second), again(time.Minute), again(5 * time.Minute)}, uint32(forgotten.Seconds()))
	if err == nil {
		_ = svc.SetRecoveryActionsOnNonCrashFailures(true) // Wine does not support this
		err = addSource()
	}
	if err != nil {
		return "", errors.Join(err, svc.Delete())
	}
	return "Installed the service. Its data is in " + s.DataDir, start(svc)
}

func start(s *mgr.Service) error {
	if err := s.Start(); err != nil && !errors.Is(err, windows.ERROR_SERVICE_ALREADY_RUNNING) {
		return err
	}
	return await(s, svc.Running)
}

func stop(s *mgr.Service) error {
	if _, err := s.Control(svc.Stop); err != nil && !errors.Is(err, windows.ERROR_SERVICE_NOT_ACTIVE) {
		return err
	}
	return await(s, svc.Stopped)
}

// await waits until the service is in a state, while it is on the way there.
func await(s *mgr.Service, want svc.State) error {
	for end := time.Now().Add((leaving + 30) * time.Second); ; time.Sleep(50 * time.Millisecond) {
		st, err := s.Query()
		switch {
		case err != nil:
			return err
		case st.State == want:
			return nil
		case st.State == svc.Stopped:
			return errors.New("the service stopped at once; the event log and stdout.log in its data directory say why")
		case time.Now().After(end):
			return errors.New("the service does not respond; see the event log")
		}
	}
}

func status(s *mgr.Service) (string, error) {
	st, err := s.Query()
	if err != nil {
		return "", err
	}
	if st.State == svc.Running || st.State == svc.StartPending {
		return "active", nil
	}
	return "inactive", nil
}
