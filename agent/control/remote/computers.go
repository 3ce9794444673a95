package remote

import (
	"context"
	"path/filepath"

	"github.com/starling-grid/starling/agent/control"
)

// Computers are the other computers whose agents an agent may control, so that its dashboard shows
// them. The agent's records about them are in its data directory. It has a separate identity and
// not that of any user, so that anyone who may open its dashboard controls the computers paired
// there and no others. Its methods may be called concurrently.
type Computers struct{ dir string }

// controllers is the folder in the data directory.
const controllers = "computers"

// NewComputers returns those that an agent with the data directory may control.
func NewComputers(dataDir string) *Computers {
	return &Computers{filepath.Join(dataDir, controllers)}
}

// Paired lists them by their addresses.
func (c *Computers) Paired() ([]control.Paired, error) { return pinsIn(c.dir).all() }

// Client makes a client for the agent at the address of one of them. It does not connect yet.
func (c *Computers) Client(address string) (*control.Client, error) {
	return NewClient(c.dir, Address(address))
}

// Pair makes the computer at an address, HOST or HOST:PORT, one of them, by the code that
// starling remote pair shows there.
func (c *Computers) Pair(ctx context.Context, address, code string) error {
	_, err := pairAs(ctx, ownName()+dashboardName, c.dir, Address(address), code)
	return err
}

// Forget removes one of them. That computer lists this one until it is revoked there.
func (c *Computers) Forget(address string) error { return pinsIn(c.dir).remove(address) }

// dashboardName distinguishes the dashboard from the command line, which is paired separately.
const dashboardName = " (dashboard)"
