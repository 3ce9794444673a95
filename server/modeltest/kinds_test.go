package modeltest

import (
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// A machine is a kind of computer, with its classes of homogeneous redundancy ("" for none).
type machine struct {
	platforms         []string // its own first
	os, vendor, model string
	fine, coarse      string
}

var machines = []machine{
	{[]string{"x86_64-pc-linux-gnu"}, "Linux", "GenuineIntel", "Intel(R) Core(TM) i7-8700", "Linux i7", "Linux x86"},
	{[]string{"x86_64-pc-linux-gnu", "i686-pc-linux-gnu"}, "Linux", "AuthenticAMD", "AMD Ryzen 7 3700X", "Linux Ryzen", "Linux x86"},
	{[]string{"windows_x86_64", "windows_intelx86"}, "Microsoft Windows 11", "GenuineIntel", "Intel(R) Core(TM) i7-8700", "Windows i7", "Windows x86"},
	{[]string{"arm64-apple-darwin", "x86_64-apple-darwin"}, "Darwin", "Apple", "Apple M2", "macOS M2", "macOS Apple"},
	{[]string{"aarch64-unknown-linux-gnu"}, "Linux", "ARM", "Cortex-A72", "", ""},
}

// Types of homogeneous redundancy, BOINC's numbers.
const (
	hrFine   = 1
	hrCoarse = 2
)

// class returns the class of a machine for an application, or "" for none.
func (m *machine) class(a *app) string {
	if a.hr == hrFine {
		return m.fine
	}
	return m.coarse
}

// machineOf returns the kind of a computer from its description in a request, or nil if that is
// damaged.
func machineOf(h *protocol.HostInfo) *machine {
	for i := range machines {
		if m := &machines[i]; m.os == h.OSName && m.vendor == h.Vendor && m.model == h.Model {
			return m
		}
	}
	return nil
}

// size has the resources of a computer. 0 bytes are not reported.
type size struct {
	cpus         int
	fpops        float64
	memory, disk float64
	features     string
	gpus         int // of a kind without a special name
}

// large has enough for all work and every plan class.
var large = size{8, 4e9, 64e9, 1e12, "fpu avx2", 2}

// drawSize draws the resources of a computer. Many have too little for some of the work.
func (w *world) drawSize() size {
	if w.plain {
		return size{cpus: 2, fpops: 1e9}
	}
	return size{
		cpus: []int{1, 2, 2, 4, 8}[w.rng.IntN(5)], fpops: float64(1+w.rng.IntN(4)) * 1e9,
		memory: []float64{0, 5e8, 4e9, 16e9}[w.rng.IntN(4)], disk: []float64{0, 2e9, 1e11}[w.rng.IntN(3)],
		features: []string{"fpu", "fpu avx2"}[w.rng.IntN(2)], gpus: []int{0, 0, 1, 2}[w.rng.IntN(4)],
	}
}

// The plan classes of every world.
var planClasses = map[string]match.PlanClass{
	"mt":   {MinNCPUs: 4, MaxThreads: 4, NThreadsCmdline: true},
	"avx2": {CPUFeature: []string{"avx2"}, ProjectedFlopsScale: 2},
	"big":  {MinMemoryMB: 8192},
	"gpu":  {GPU: match.GPU{GPUType: gpuKind}},
	"half": {GPU: match.GPU{GPUType: gpuKind, NGPUs: 0.5, GPUPeakFlopsScale: 0.2}},
	"pair": {GPU: match.GPU{GPUType: gpuKind, NGPUs: 2, GPUPeakFlopsScale: 0.3}},
}

// gpuKind is the kind of coprocessor that computers have, if any.
const gpuKind = "model"

// onGPU reports whether a plan class is for one.
func onGPU(class string) bool { return class == "gpu" || class == "half" || class == "pair" }

// gpus returns the coprocessors in a request, or nil.
func gpus(req *protocol.SchedulerRequest) *protocol.Coproc {
	for i := range req.Coprocs {
		if req.Coprocs[i].Kind == gpuKind {
			return &req.Coprocs[i]
		}
	}
	return nil
}

// devices returns the number of coprocessors of all kinds in a request, which may be damaged.
func devices(req *protocol.SchedulerRequest) (n int) {
	for i := range req.Coprocs {
		n += req.Coprocs[i].Count
	}
	return n
}

// suits has the same rules as planClasses, in another form.
func suits(class string, req *protocol.SchedulerRequest) bool {
	h := &req.Host
	switch class {
	case "mt":
		return h.NCPUs >= 4
	case "avx2":
		return slices.Contains(strings.Fields(strings.ToLower(h.Features)), "avx2")
	case "big":
		return h.MemBytes <= 0 || h.MemBytes >= 8<<30
	case "gpu", "half":
		return gpus(req) != nil
	case "pair":
		return gpus(req) != nil && gpus(req).Count >= 2
	}
	return class == ""
}

// An app is the model's record of an application.
type app struct {
	id       int64
	name     string
	weight   float64 // 0: 1
	taskTime time.Duration
	hr       int  // homogeneous redundancy, by BOINC's number
	pinned   bool // homogeneous app version
	adaptive int  // results of a workunit of quorum 1 whose host is not trusted
	// A version for these platforms is there in the end, though not always.
	platforms []string
	versions  []*version
}

// A version is the model's record of an app version.
type version struct {
	app             *app
	id              int64
	num             int
	platform, class string
	gone            bool // deprecated
}

// runs reports whether the computer that sends a request can run a version.
func (v *version) runs(req *protocol.SchedulerRequest) bool {
	return !v.gone && slices.Contains(match.Platforms(req), v.platform) && suits(v.class, req)
}

// share is the weight of an application.
func (a *app) share() float64 {
	if a.weight > 0 {
		return a.weight
	}
	return 1
}

// drawApps draws the applications of a world. Each has a version for a platform whose computers
// have a class, if it needs one.
func (w *world) drawApps() (apps []*app) {
	for i := range 1 + w.rng.IntN(3) {
		a := &app{
			name: string(rune('a' + i)), weight: []float64{0, 1, 2, 5}[w.rng.IntN(4)], hr: []int{0, 0, hrFine, hrCoarse}[w.rng.IntN(4)],
			pinned: w.chance(0.2), adaptive: 2 * w.rng.IntN(2), taskTime: []time.Duration{0, 0, 10 * time.Minute, 5 * time.Hour}[w.rng.IntN(4)],
		}
		a.platforms = slices.Clone(machines[w.rng.IntN(len(machines)-1)].platforms[:1])
		for _, m := range machines {
			for _, p := range m.platforms {
				if !slices.Contains(a.platforms, p) && w.chance(0.3) {
					a.platforms = append(a.platforms, p)
				}
			}
		}
		apps = append(apps, a)
	}
	return apps
}

// insertApp registers an application with its first versions.
func (w *world) insertApp(a *app) {
	w.update(func(tx *store.Tx) (err error) {
		a.id, err = tx.InsertApp(store.App{
			CreateTime: w.now, Name: a.name, UserFriendlyName: strings.ToUpper(a.name), Validator: "bitwise", Assimilator: "copy",
			TargetNResults: a.adaptive, HomogeneousRedundancy: a.hr, HomogeneousAppVersion: a.pinned, Weight: a.weight, TaskTime: a.taskTime,
		})
		return err
	})
	for _, p := range a.platforms {
		w.publish(a, p, "")
		if !w.plain && w.chance(0.5) {
			w.publish(a, p, w.drawClass())
		}
	}
}

func (w *world) drawClass() string {
	return []string{"", "mt", "avx2", "big", "gpu", "half", "pair"}[w.rng.IntN(7)]
}

// publish adds a version with the next number.
func (w *world) publish(a *app, platform, class string) {
	main := protocol.FileInfo{Name: "program", NBytes: 10, Executable: true, Signature: "aa\n."}.XML() +
		protocol.AppVersion{FileRefs: []protocol.FileRef{{FileName: "program", MainProgram: true}}}.XML()
	v := &version{app: a, num: 100 + len(a.versions), platform: platform, class: class}
	w.update(func(tx *store.Tx) (err error) {
		v.id, err = storetest.AddVersion(tx, platform, store.AppVersion{
			CreateTime: w.now, AppID: a.id, VersionNum: v.num, PlanClass: class, XMLDoc: main,
		})
		return err
	})
	a.versions = append(a.versions, v)
}

// republish acts as an operator adding a version to a running project.
func (w *world) republish() {
	a := w.apps[w.rng.IntN(len(w.apps))]
	w.publish(a, a.platforms[w.rng.IntN(len(a.platforms))], w.drawClass())
}

// deprecate acts as an operator withdrawing a version, even the last for its platform.
func (w *world) deprecate() {
	a := w.apps[w.rng.IntN(len(w.apps))]
	v := a.versions[w.rng.IntN(len(a.versions))]
	w.update(func(tx *store.Tx) error { return tx.DeprecateVersion(v.id) })
	v.gone = true
}

func (w *world) appOf(id int64) *app {
	i := slices.IndexFunc(w.apps, func(a *app) bool { return a.id == id })
	return w.apps[i]
}

// version returns the version with an ID, or nil.
func (w *world) version(id int64) *version {
	for _, a := range w.apps {
		for _, v := range a.versions {
			if v.id == id {
				return v
			}
		}
	}
	return nil
}
