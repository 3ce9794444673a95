package installer

import (
	"context"
	"errors"
	"log/slog"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
)

// leaving is the number of seconds that the Service Manager waits for the agent, which stops its
// tasks within a minute.
const leaving = 90

// Run runs f, which ends when its context ends. If the Service Manager started this program, Run
// obeys its requests to stop, and writes the start, the stop and the error that f returns to the
// event log, as well as everything that f writes to its handler. Otherwise the handler is nil.
func Run(ctx context.Context, f func(context.Context, slog.Handler) error) error {
	h := &handler{ctx: ctx, run: f}
	err := svc.Run(Name, h)
	if errors.Is(err, windows.ERROR_FAILED_SERVICE_CONTROLLER_CONNECT) { // it was started in another way
		return f(ctx, nil)
	}
	return errors.Join(h.err, err)
}

// A handler is the agent's interface to the Service Manager.
type handler struct {
	ctx context.Context
	run func(context.Context, slog.Handler) error
	err error // how it ended
}

// Execute returns when the agent has ended. If the exit code is not 0, the manager starts it again.
func (h *handler) Execute(_ []string, requests <-chan svc.ChangeRequest, status chan<- svc.Status) (ours bool, code uint32) {
	status <- svc.Status{State: svc.StartPending}
	events := openEvents()
	defer events.close()
	ctx, cancel := context.WithCancel(h.ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- h.run(ctx, events.handler()) }()
	events.info(started, "The Starling service has started.")
	status <- svc.Status{State: svc.Running, Accepts: svc.AcceptStop | svc.AcceptPreShutdown}
	for {
		select {
		case h.err = <-ended:
			if h.err != nil {
				events.failed("The Starling service has stopped because of an error: " + h.err.Error())
				return true, 1
			}
			events.info(stopped, "The Starling service has stopped. Its tasks resume from their last checkpoint at the next start.")
			return false, 0
		case r := <-requests:
			switch r.Cmd {
			case svc.Interrogate:
				status <- r.CurrentStatus
			case svc.Stop, svc.PreShutdown:
				status <- svc.Status{State: svc.StopPending, WaitHint: leaving * 1000}
				cancel()
			}
		}
	}
}
