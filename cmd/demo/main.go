// Command demo shows the whole of Starling at work. It creates a project, starts its server and two
// agents as separate processes, makes them search Mersenne primes, and prints the results. "make
// demo" builds and runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/words"
)

func main() {
	bin := flag.String("bin", "bin", "folder with the built programs")
	n := flag.Int("n", 8, "number of workunits")
	app := flag.String("app", "", "native (the default), or wasm for the same application as a WebAssembly module")
	gpu := flag.String("gpu", "", "fake: the tasks are for coprocessors, two of which each agent declares; pocl: they compute by OpenCL on PoCL, which must be installed")
	light := flag.Bool("light", false, "small workunits, as WebAssembly always gets them")
	dir := flag.String("dir", "", "folder for all data, created if it does not exist (default: a temporary folder)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, testhost.Bin(*bin), *dir, *app, *gpu, *n, *light)
	if ctx.Err() != nil {
		fmt.Println("\nInterrupted; everything has been stopped.")
		os.Exit(130)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, bin testhost.Bin, dir, app, gpu string, n int, light bool) (err error) {
	if app != "" && app != "native" && app != "wasm" {
		return fmt.Errorf("unknown application %q; use native or wasm (APP=…)", app)
	}
	if gpu != "" && gpu != "fake" && gpu != "pocl" {
		return fmt.Errorf("unknown coprocessor %q; use fake or pocl (GPU=…)", gpu)
	}
	if gpu == "pocl" && app == "wasm" {
		return errors.New("WebAssembly cannot use coprocessors; leave out APP=wasm or GPU=pocl")
	}
	if n < 1 {
		return errors.New("at least one workunit is required (N=…)")
	}
	abs, err := filepath.Abs(string(bin))
	if err != nil {
		return err
	}
	if dir == "" {
		dir, err = os.MkdirTemp("", "starling-demo-")
	} else {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return err
	}
	began := time.Now()
	wasm := app == "wasm" // it has no wide multiplication
	g := grid{bin: testhost.Bin(abs), dir: dir, wasm: wasm, light: light || wasm, gpu: gpu}
	defer func() { err = errors.Join(err, g.stop()) }()
	if err := g.start(ctx, n); err != nil {
		return err
	}
	if err := watch(ctx, &g, os.Stdout); err != nil {
		return err
	}
	fmt.Printf("\nAll done in %s.\n\n", words.Span(time.Since(began)))
	return report(&g, os.Stdout)
}
