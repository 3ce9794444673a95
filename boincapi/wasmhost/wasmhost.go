// Package wasmhost runs applications for the platform wasm32-wasip1. They are WebAssembly modules
// that use only WASI (preview 1) of the computer. One binary serves every volunteer.
//
// A module sees one folder, "/", with its input files under their logical names. A file that it
// writes there under the logical name of an output becomes that output. Everything else, such as
// checkpoints, stays for the next start. The module has neither network nor other files, and its
// clock and random numbers are the same on every computer. NaNs from arithmetic have the canonical
// bits instead of the processor's, so that results agree bit for bit.
//
// The host module "starling" is the module's side of BOINC's interface:
//
//	fraction_done(f64)              how much is done, from 0 to 1
//	yield() → i32                   returns when the task may continue; not 0: leave
//	time_to_checkpoint() → i32      not 0: a checkpoint may be written now
//	checkpoint_completed()          one has been written
//
// A module should call yield a few times a second. While it does not, it can only be ended, not
// suspended. Package boincapi, built for wasip1, calls these functions.
package wasmhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/starling-grid/starling/boincapi"
	"github.com/starling-grid/starling/protocol/appipc"
)

// Platform is the name under which projects register modules.
const Platform = "wasm32-wasip1"

// marker, as its first argument, makes this program run a module.
const marker = "--run-wasm"

// folder is the module's "/", in the slot.
const folder = "wasm"

// pages limits a module's memory, in units of 64 KiB. A task's limit, if any, is lower.
const pages = 65536

// Args are the first arguments with which this program runs a module. The module's path and
// arguments follow.
var Args = []string{marker}

// Main must be called early in a program that runs modules. It returns at once
// unless the process is to run one, and then it does not return.
func Main() {
	if len(os.Args) < 3 || os.Args[1] != marker {
		return
	}
	module, args := os.Args[2], os.Args[3:]
	boincapi.Run(func(app *boincapi.App) error {
		return run(app, module, args)
	})
	os.Exit(0)
}

// runtime has the methods of boincapi.App that a module needs.
type runtime interface {
	Yield() error
	FractionDone(f float64)
	TimeToCheckpoint() bool
	CheckpointCompleted()
	Resolve(logical string) (string, error)
	Context() context.Context
	InitData() appipc.InitData
}

func run(app runtime, module string, args []string) error {
	code, err := os.ReadFile(module)
	if err != nil {
		return err
	}
	outputs, err := gather(app, module)
	if err != nil {
		return err
	}
	if err := execute(app, code, append([]string{filepath.Base(module)}, args...)); err != nil {
		return err
	}
	return deliver(outputs)
}

// gather copies the task's input files into the module's folder under their logical names, and
// returns the paths of the outputs by their logical names.
func gather(app runtime, module string) (outputs map[string]string, err error) {
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		return nil, err
	}
	outputs = make(map[string]string)
	for _, e := range entries {
		name := e.Name()
		if !e.Type().IsRegular() || appipc.Own(name) || name == CompiledFile || name == NewlyCompiledFile {
			continue
		}
		path, err := app.Resolve(name)
		if err != nil {
			return nil, err
		}
		switch _, err := os.Stat(path); {
		case filepath.Base(path) == filepath.Base(module):
		case errors.Is(err, fs.ErrNotExist):
			outputs[name] = path
		case err != nil:
			return nil, err
		default:
			if err := copyFile(path, filepath.Join(folder, name)); err != nil {
				return nil, err
			}
		}
	}
	return outputs, nil
}

// copyFile copies a file, unless there is one already: the module may have changed
// its copy.
func copyFile(from, to string) error {
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	tmp := to + ".part"
	dst, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err = errors.Join(err, dst.Close()); err != nil {
		return err
	}
	return os.Rename(tmp, to)
}

// deliver copies the outputs that the module has written to where they belong.
func deliver(outputs map[string]string) error {
	for name, path := range outputs {
		switch err := copyFile(filepath.Join(folder, name), path); {
		case errors.Is(err, fs.ErrNotExist): // the client decides whether it is optional
		case err != nil:
			return err
		}
	}
	return nil
}

// execute runs the module's code to its end.
func execute(app runtime, code []byte, args []string) error {
	ctx := app.Context()
	code, err := canonicalNaNs(code)
	if err != nil {
		return err
	}
	r, compiled, err := prepare(app, code)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close(context.WithoutCancel(ctx)) }() // the process ends anyway
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return err
	}
	var left error // the reason why the module must leave
	flag := func(b bool) uint32 {
		if b {
			return 1
		}
		return 0
	}
	_, err = r.NewHostModuleBuilder("starling").
		NewFunctionBuilder().WithFunc(app.FractionDone).Export("fraction_done").
		NewFunctionBuilder().WithFunc(func() uint32 {
		left = app.Yield()
		return flag(left != nil)
	}).Export("yield").
		NewFunctionBuilder().WithFunc(func() uint32 { return flag(app.TimeToCheckpoint()) }).Export("time_to_checkpoint").
		NewFunctionBuilder().WithFunc(app.CheckpointCompleted).Export("checkpoint_completed").
		Instantiate(ctx)
	if err != nil {
		return err
	}
	// wazero's default clock and random numbers are the same everywhere.
	config := wazero.NewModuleConfig().WithArgs(args...).WithStdout(os.Stderr).WithStderr(os.Stderr).
		WithFSConfig(wazero.NewFSConfig().WithDirMount(folder, "/"))
	_, err = r.InstantiateModule(ctx, compiled, config)
	var exit *sys.ExitError
	switch {
	case left != nil:
		return left
	case errors.As(err, &exit) && exit.ExitCode() == 0:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &exit):
		return fmt.Errorf("the module exited with status %d", exit.ExitCode())
	}
	return err
}
