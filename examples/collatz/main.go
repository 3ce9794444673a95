// Collatz is a BOINC application for GPUs: of a range of numbers, from the file in, it
// finds how many steps each takes to 1 by halving the even ones and tripling the odd ones
// and adding 1, and writes which takes the most, and how many all take, to the file out.
//
// It is an example of a real application that computes by OpenCL in pure Go, see
// README.md. Without a device it computes on the CPU, with the same results, so that one
// program serves both kinds of app versions and their results can be compared.
package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/starling-grid/starling/boincapi"
	"github.com/starling-grid/starling/internal/opencl"
	"github.com/starling-grid/starling/protocol/appipc"
)

func main() {
	boincapi.Run(func(app *boincapi.App) error {
		path, err := app.Resolve("in")
		if err != nil {
			return err
		}
		in, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		r, err := parseRange(string(in))
		if err != nil {
			return err
		}
		count, err := counter(app.InitData(), os.Args[1:])
		if err != nil {
			return err
		}
		text, err := search(r, count, app)
		if err != nil {
			return err
		}
		out, err := app.Resolve("out")
		if err != nil {
			return err
		}
		return os.WriteFile(out, []byte(text), 0o644) //nolint:gosec // the client may be another user
	})
}

// counter chooses what computes: the device that the client gave the task, or that the
// argument --device names among all devices here, or the CPU.
func counter(init appipc.InitData, args []string) (counts, error) {
	kind, index := init.GPUType, init.GPUOpenCLDevIndex
	if kind == "" {
		n, asked, err := device(args)
		if err != nil {
			return nil, err
		}
		if !asked {
			fmt.Fprintln(os.Stderr, "computing on the CPU")
			return onCPU, nil
		}
		kind, index = "any", n
	}
	if index < 0 {
		return nil, fmt.Errorf("the client gave this task a device of type %s that OpenCL does not know", kind)
	}
	lib, err := opencl.Open()
	if err != nil {
		return nil, err
	}
	d, err := lib.Choose(kind, index)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(os.Stderr, "computing on", d.Text(opencl.Name))
	return onDevice(d)
}

// device is the number after --device.
func device(args []string) (n int, asked bool, err error) {
	for i, arg := range args {
		if arg == "--device" && i+1 < len(args) {
			n, err = strconv.Atoi(args[i+1])
			return n, true, err
		}
	}
	return 0, false, nil
}
