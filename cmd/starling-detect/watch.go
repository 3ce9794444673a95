package main

import (
	"io"
	"os"
	"time"

	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/internal/cuda"
)

// watch prints the readings of the sensors of NVIDIA's GPUs, until the standard input ends or a
// reading fails.
func watch(out *os.File) error {
	sensors, err := cuda.OpenSensors()
	if err != nil {
		return say(out, gpus.Reply{Library: sensors.Library, Error: err.Error(), Missing: sensors.Library == ""})
	}
	unwanted := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(unwanted)
	}()
	for {
		now, err := sensors.Read()
		r := gpus.Reply{Library: sensors.Library, Error: message(err)}
		for _, x := range now {
			r.Readings = append(r.Readings, gpus.Reading{
				Kind: "NVIDIA", PCI: x.PCI, Celsius: x.Celsius, Busy: x.Busy, Watts: x.Watts, MemoryUsed: x.MemoryUsed, Memory: x.Memory,
			})
		}
		if say(out, r) != nil || err != nil {
			return nil // the reader is gone, or it has the error
		}
		select {
		case <-unwanted:
			return nil
		case <-time.After(gpus.ReadEvery):
		}
	}
}
