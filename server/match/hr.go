package match

import (
	"strings"

	"github.com/starling-grid/starling/server/store"
)

// Homogeneous redundancy: results of a workunit go only to hosts whose arithmetic
// is taken to be the same, so that outputs can be compared byte by byte. The first
// host that is sent one decides the workunit's class.
//
// A class is BOINC's code of the operating system plus one of the processor. The
// processor's codes are Starling's own: a workunit's class has a meaning within one
// project only.

// Types of homogeneous redundancy, BOINC's numbers.
const (
	HRNone   = 0
	HRFine   = 1 // operating system and family of processors
	HRCoarse = 2 // operating system and kind of processor (Intel and AMD count as one)
)

var hrSystems = []struct {
	name   string
	code   int64
	coarse bool // qualifies for the coarse type
}{
	{"Windows", 384, true},
	{"Android", 768, false}, // before Linux, which it is too
	{"Linux", 256, true},
	{"Darwin", 512, true},
	{"macOS", 512, true},
	{"FreeBSD", 640, false},
}

// Families of processors by parts of their model names. The first match counts. Codes stay below
// 128, and a code is never reused for something else.
var hrFamilies = []struct {
	vendor, model string
	code          int64
}{
	{"Intel", "Xeon", 10},
	{"Intel", "Core(TM)2", 11},
	{"Intel", "Ultra", 12},
	{"Intel", "i3", 13},
	{"Intel", "i5", 14},
	{"Intel", "i7", 15},
	{"Intel", "i9", 16},
	{"Intel", "Atom", 17},
	{"Intel", "Celeron", 18},
	{"Intel", "Pentium", 19},
	{"AMD", "EPYC", 40},
	{"AMD", "Threadripper", 41},
	{"AMD", "Ryzen", 42},
	{"AMD", "Opteron", 43},
	{"AMD", "Phenom", 44},
	{"AMD", "Athlon", 45},
	{"AMD", "Sempron", 46},
	{"AMD", "Turion", 47},
	{"AMD", "FX", 48},
	{"Apple", "M1", 70},
	{"Apple", "M2", 71},
	{"Apple", "M3", 72},
	{"Apple", "M4", 73},
}

const (
	hrX86   = 1
	hrApple = 2
)

// HRClass returns the class of a host for a type of homogeneous redundancy. Only the host's OSName,
// Vendor and Model are used. It returns false if the host does not belong to a known class. Such a
// host gets no work of the application.
func HRClass(hr int, h store.Host) (class int64, ok bool) {
	vendor := ""
	switch {
	case strings.Contains(h.Vendor, "Intel"):
		vendor = "Intel"
	case strings.Contains(h.Vendor, "AMD"):
		vendor = "AMD"
	case strings.Contains(h.Vendor, "Apple"):
		vendor = "Apple"
	}
	for _, s := range hrSystems {
		if !strings.Contains(strings.ToLower(h.OSName), strings.ToLower(s.name)) {
			continue
		}
		if hr == HRCoarse {
			switch {
			case !s.coarse || vendor == "":
				return 0, false
			case vendor == "Apple":
				return s.code + hrApple, true
			}
			return s.code + hrX86, true
		}
		for _, f := range hrFamilies {
			if f.vendor == vendor && strings.Contains(h.Model, f.model) {
				return s.code + f.code, true
			}
		}
		return 0, false
	}
	return 0, false
}
