package match

import (
	"testing"

	"github.com/starling-grid/starling/server/store"
)

func TestHRClass(t *testing.T) {
	host := func(os, vendor, model string) store.Host {
		return store.Host{OSName: os, Vendor: vendor, Model: model}
	}
	i7 := host("Linux Debian", "GenuineIntel", "Intel(R) Core(TM) i7-8700 CPU @ 3.20GHz [Family 6 Model 158]")
	for _, tt := range []struct {
		name         string
		h            store.Host
		fine, coarse int64 // 0: no class
	}{
		{"Intel on Linux", i7, 256 + 15, 256 + 1},
		{"AMD on Linux", host("Linux", "AuthenticAMD", "AMD Ryzen 7 3700X"), 256 + 42, 256 + 1},
		{"AMD's threaded one", host("Linux", "AuthenticAMD", "AMD Ryzen Threadripper 1950X"), 256 + 41, 256 + 1},
		{"Intel on Windows", host("Microsoft Windows 10", "GenuineIntel", "Intel(R) Xeon(R)"), 384 + 10, 384 + 1},
		{"Apple", host("Darwin", "Apple", "Apple M2 Pro"), 512 + 71, 512 + 2},
		{"FreeBSD", host("FreeBSD", "GenuineIntel", "Intel(R) Atom(TM)"), 640 + 17, 0},
		{"Android", host("Android Linux", "ARM", "ARMv8"), 0, 0},
		{"an unknown processor", host("Linux", "HygonGenuine", "C86"), 0, 0},
		{"an unknown family", host("Linux", "GenuineIntel", "Genuine 0000"), 0, 256 + 1},
		{"nothing told", store.Host{}, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for hr, want := range map[int]int64{HRFine: tt.fine, HRCoarse: tt.coarse} {
				if got, ok := HRClass(hr, tt.h); got != want || ok != (want != 0) {
					t.Errorf("type %d: got %d, %v; want %d", hr, got, ok, want)
				}
			}
		})
	}
	codes := make(map[int64]bool)
	for _, f := range hrFamilies {
		if codes[f.code] || f.code < 3 || f.code > 127 {
			t.Errorf("code %d of %s %s", f.code, f.vendor, f.model)
		}
		codes[f.code] = true
	}
}
