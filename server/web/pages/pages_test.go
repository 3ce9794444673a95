package pages

import (
	"testing"

	"github.com/starling-grid/starling/server/store"
)

func TestDevicesInWords(t *testing.T) {
	for want, c := range map[string]store.Coproc{
		"2 × NVIDIA GeForce RTX 3060 (12 GB)": {Kind: "NVIDIA", Name: "NVIDIA GeForce RTX 3060", Count: 2, Memory: 12 << 30},
		"AMD GPU":                             {Kind: "ATI", Count: 1},
		"2 × coprocessor of type fake":        {Kind: "fake", Count: 2},
	} {
		if got := device(c).String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
