//go:build wasip1

// Package boincapi, built for WebAssembly (GOOS=wasip1), has the same interface for a module that
// Starling's agent runs. Its methods call the host module "starling", see package wasmhost. Files
// are opened by their logical names.
package boincapi

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// ErrQuit is returned by Yield when the module must exit.
var ErrQuit = errors.New("client asked to quit")

//go:wasmimport starling fraction_done
func hostFractionDone(f float64)

//go:wasmimport starling yield
func hostYield() int32

//go:wasmimport starling time_to_checkpoint
func hostTimeToCheckpoint() int32

//go:wasmimport starling checkpoint_completed
func hostCheckpointCompleted()

// An App is the running application.
type App struct{}

// Run runs work and ends the module according to the returned error.
func Run(work func(*App) error) {
	if err := work(new(App)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Standalone returns false: a module always has a client.
func (*App) Standalone() bool { return false }

// Context returns a context that never ends: the module is ended as a whole.
func (*App) Context() context.Context { return context.Background() }

// Resolve returns a file's path, which is the same as its logical name.
func (*App) Resolve(logical string) (string, error) { return logical, nil }

// FractionDone sets the fraction of the work that is done, from 0 to 1.
func (*App) FractionDone(f float64) { hostFractionDone(f) }

// Yield returns at once or, while the task is suspended, when it resumes. ErrQuit means that the
// module must exit.
func (*App) Yield() error {
	if hostYield() != 0 {
		return ErrQuit
	}
	return nil
}

// TimeToCheckpoint reports whether a checkpoint may be written now.
func (*App) TimeToCheckpoint() bool { return hostTimeToCheckpoint() != 0 }

// CheckpointCompleted reports that a checkpoint has been written.
func (*App) CheckpointCompleted() { hostCheckpointCompleted() }
