//go:build !linux

package installer

import "github.com/kardianos/service"

// A program is the agent as the service's manager sees it.
type program struct {
	run    func() error
	cancel func()
	done   chan error
}

// Start starts working and returns.
func (p program) Start(s service.Service) error {
	go func() {
		p.done <- p.run()
		_ = s.Stop() // it may have ended by itself
	}()
	return nil
}

// Stop returns when the work has ended.
func (p program) Stop(service.Service) error {
	p.cancel()
	return <-p.done
}
