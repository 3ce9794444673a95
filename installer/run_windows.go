package installer

import (
	"context"

	"github.com/kardianos/service"
)

// Run runs f, which ends when its context does. When Windows started this program
// as a service, its requests to stop are obeyed.
func Run(ctx context.Context, f func(context.Context) error) error {
	if service.Interactive() {
		return f(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := program{run: func() error { return f(ctx) }, cancel: cancel, done: make(chan error, 1)}
	svc, err := service.New(p, &service.Config{Name: Name})
	if err != nil {
		return err
	}
	return svc.Run()
}
