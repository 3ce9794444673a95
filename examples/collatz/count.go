package main

import (
	_ "embed" // the kernel
	"math"

	"github.com/starling-grid/starling/internal/opencl"
)

// counts fills steps with the numbers of steps of first and the following numbers. tooMany marks a
// number that would grow beyond 64 bits.
type counts func(first uint64, steps []uint64) error

// tooMany is the number of steps of a number that grew too large.
const tooMany = math.MaxUint64

// batch is the number of starting values that are counted at once. A batch takes some milliseconds
// on a GPU and less than a second on a CPU. The program answers the client between two batches.
const batch = 1 << 16

//go:embed kernel.cl
var kernel string

// onDevice counts on a device.
func onDevice(d opencl.Device) (counts, error) {
	out := make([]byte, 8*batch)
	k, err := d.Compile(kernel, "count", len(out))
	if err != nil {
		return nil, err
	}
	return func(first uint64, steps []uint64) error {
		if err := k.Run(len(steps), out, first); err != nil {
			return err
		}
		copy(steps, opencl.Words(out))
		return nil
	}, nil
}

// onCPU counts as the kernel does.
func onCPU(first uint64, steps []uint64) error {
	for i := range steps {
		n, s := first+uint64(i), uint64(0)
		for ; n > 1; s++ {
			switch {
			case n&1 == 0:
				n >>= 1
				continue
			case n > (math.MaxUint64-1)/3:
				n, s = 1, tooMany-1
				continue
			}
			n = 3*n + 1
		}
		steps[i] = s
	}
	return nil
}
