package servertest

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/starling-grid/starling/agent"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/protocol"
)

// Agent starts Starling's real agent in this process, with a separate data directory and account,
// attached to the project, and ends it with the test. It runs programs (see Program), outside its
// sandbox and at this process's priority. log may be nil.
func (p *Project) Agent(name string, log *slog.Logger) *agent.Agent {
	p.tb.Helper()
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	dir := p.tb.TempDir()
	p.check(os.WriteFile(filepath.Join(dir, settings.File), []byte("no_priority_change = true\n"), 0o600))
	a, err := agent.New(agent.Config{DataDir: dir, Log: log, Version: "test"})
	p.check(err)
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(p.ctx)
	go func() { ended <- a.Run(ctx) }()
	p.tb.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			p.tb.Errorf("agent %s: %v", name, err)
		}
	})
	p.check(a.Attach(p.tb.Context(), p.URL, protocol.Authenticator(p.Account(name+"@example.org"))))
	p.agents = append(p.agents, a)
	return a
}
