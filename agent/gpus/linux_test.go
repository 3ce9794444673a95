//go:build linux

package gpus

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/resource"
)

// tree makes files below a new folder: text, or with "→ " in front a link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if to, link := strings.CutPrefix(text, "→ "); err == nil && link {
			err = os.Symlink(to, path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(text), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestCardsOfAComputer(t *testing.T) {
	root := tree(t, map[string]string{
		"sys/0000:00:02.0/vendor": "0x8086\n", "sys/0000:00:02.0/class": "0x030000\n", "sys/0000:00:02.0/driver": "→ ../../../bus/pci/drivers/i915",
		"sys/0000:00:02.0/drm/card0/dev": "226:0", "sys/0000:00:02.0/drm/renderD128/dev": "226:128",
		"sys/0000:01:00.0/vendor": "0x10de\n", "sys/0000:01:00.0/class": "0x030200\n", "sys/0000:01:00.0/driver": "→ ../../../bus/pci/drivers/nvidia",
		"sys/0000:02:00.0/vendor": "0x10de\n", "sys/0000:02:00.0/class": "0x030000\n",
		"sys/0000:03:00.0/vendor": "0x1002\n", "sys/0000:03:00.0/class": "0x030000\n", "sys/0000:03:00.0/driver": "→ ../../../bus/pci/drivers/amdgpu",
		"sys/0000:03:00.0/drm/renderD129/dev": "226:129",
		"sys/0000:1f:00.0/vendor":             "0x8086\n", "sys/0000:1f:00.0/class": "0x060100\n", // a bridge
		"sys/0000:20:00.0/vendor": "0x1234\n", "sys/0000:20:00.0/class": "0x030000\n", // another vendor's
		"dev/dri/renderD128": "", "dev/nvidiactl": "",
	})
	got := cardsIn(filepath.Join(root, "sys"), filepath.Join(root, "dev"))
	want := []Card{
		{PCI: "0000:00:02.0", Kind: resource.Intel, Module: "i915", Node: filepath.Join(root, "dev/dri/renderD128")},
		{PCI: "0000:01:00.0", Kind: resource.NVIDIA, Module: "nvidia", Node: filepath.Join(root, "dev/nvidiactl")},
		{PCI: "0000:02:00.0", Kind: resource.NVIDIA},
		{PCI: "0000:03:00.0", Kind: resource.ATI, Module: "amdgpu"}, // its node was not made
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if got := cardsIn(filepath.Join(root, "none"), root); got != nil {
		t.Errorf("without sysfs: %+v", got)
	}
}

func TestACardThatIsClosed(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may open everything")
	}
	root := tree(t, map[string]string{
		"sys/0000:00:02.0/vendor": "0x8086\n", "sys/0000:00:02.0/class": "0x030000\n", "sys/0000:00:02.0/drm/renderD128/dev": "", "dev/dri/renderD128": "",
	})
	if err := os.Chmod(filepath.Join(root, "dev/dri/renderD128"), 0o060); err != nil {
		t.Fatal(err)
	}
	got := cardsIn(filepath.Join(root, "sys"), filepath.Join(root, "dev"))
	if len(got) != 1 || got[0].Closed != "permission denied" || got[0].Group == "" {
		t.Errorf("got %+v", got)
	}
}

func TestWhatATaskMayOpen(t *testing.T) {
	root := tree(t, map[string]string{
		"dev/nvidiactl": "", "dev/nvidia-uvm": "", "dev/nvidia0": "", "dev/nvidia1": "", "dev/nvidia2": "", "dev/kfd": "", "dev/dri/renderD128": "", "dev/dri/renderD129": "", "dev/dri/card0": "",
		"proc/driver/nvidia/gpus/0000:01:00.0/information":       "Model: \t\t X\nDevice Minor: \t 1\n",
		"sys/bus/pci/devices/0000:03:00.0/drm/renderD129/dev":    "",
		"sys/bus/pci/devices/0000:03:00.0/drm/card0/dev":         "",
		"sys/bus/pci/devices/0000:00:02.0/drm/renderD128/device": "",
	})
	for _, c := range []struct {
		name   string
		kind   resource.Kind
		places []string
		want   string
	}{
		{"one of several of NVIDIA's", resource.NVIDIA, []string{"0000:01:00.0"}, "nvidiactl nvidia-uvm nvidia1"},
		{"a container hides which", resource.NVIDIA, []string{"0000:09:00.0"}, "nvidiactl nvidia-uvm nvidia0 nvidia1 nvidia2"},
		{"a declared one", resource.NVIDIA, nil, "nvidiactl nvidia-uvm nvidia0 nvidia1 nvidia2"},
		{"AMD's", resource.ATI, []string{"0000:03:00.0"}, "kfd dri/renderD129"},
		{"Intel's", resource.Intel, []string{"0000:00:02.0"}, "dri/renderD128"},
		{"Intel's, declared", resource.Intel, nil, "dri/renderD128 dri/renderD129"},
	} {
		var a Access
		nodesIn(root, &a, c.kind, c.places)
		var got []string
		for _, path := range a.Devices {
			got = append(got, strings.TrimPrefix(path, root+"/dev/"))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if (len(a.List) > 0) == (c.kind == resource.NVIDIA) {
			t.Errorf("%s: folders %q", c.name, a.List)
		}
	}
}

func TestAccessIsForWhatUsesDevices(t *testing.T) {
	s := Set{Groups: []Group{
		{Kind: "fake", Devices: []Device{{}}},
		{Kind: "pocl", Devices: []Device{{OpenCL: new(protocol.OpenCL)}}},
		{Kind: resource.Intel, Devices: []Device{{PCI: "0000:00:02.0"}}},
	}}
	for kind, want := range map[resource.Kind]string{"none": "[]", "fake": "[]", "pocl": "[/etc/OpenCL]", resource.Intel: "[/sys/bus/pci /sys/dev/char /sys/class/drm /sys/devices]"} {
		a := s.Access(kind)
		if got := "[" + strings.Join(a.Read, " ") + "]"; got != want || len(a.List) > 0 != (kind == resource.Intel) {
			t.Errorf("%s: got %+v, want %s", string(kind), a, want)
		}
	}
}

// library builds a shared library with an internal name.
func library(t *testing.T, path, soname string) {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), cc, "-shared", "-nostdlib", "-Wl,-soname,"+soname, "-x", "c", "/dev/null", "-o", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// A task in an image sees the folders of its devices alone, by the paths that drivers use.
func TestDevicesOfATaskInAnImage(t *testing.T) {
	const amd, intel = "sys/devices/pci0000:00/0000:00:01.0/0000:03:00.0", "sys/devices/pci0000:00/0000:00:02.0"
	root := tree(t, map[string]string{
		"sys/bus/pci/devices/0000:03:00.0": "→ ../../../devices/pci0000:00/0000:00:01.0/0000:03:00.0", amd + "/vendor": "0x1002\n", amd + "/class": "0x030000\n",
		amd + "/drm/renderD129/dev": "226:129\n", amd + "/drm/card1/dev": "226:1\n",
		"sys/bus/pci/devices/0000:00:02.0": "→ ../../../devices/pci0000:00/0000:00:02.0", intel + "/vendor": "0x8086\n", intel + "/class": "0x030000\n",
		intel + "/drm/renderD128/dev": "226:128\n",
		"sys/dev/char/226:128":        "→ ../../devices/pci0000:00/0000:00:02.0/drm/renderD128",
		"sys/dev/char/226:129":        "→ ../../devices/pci0000:00/0000:00:01.0/0000:03:00.0/drm/renderD129",
		"sys/class/drm/renderD129":    "→ ../../devices/pci0000:00/0000:00:01.0/0000:03:00.0/drm/renderD129",
		"sys/class/kfd/kfd":           "→ ../../devices/virtual/kfd/kfd", "sys/devices/virtual/kfd/kfd/topology/nodes/0/gpu_id": "0\n",
		"sys/module/amdgpu/version": "1\n", "sys/module/other/version": "1\n", "sys/devices/system/node/online": "0\n",
		"dev/dri/by-path/pci-0000:00:02.0-render": "→ ../renderD128",
	})
	for name, c := range map[string]struct {
		kind   resource.Kind
		places []string
		want   string
	}{
		"AMD's": {resource.ATI, []string{"0000:03:00.0"}, `/sys/devices/system/node
/sys/bus/pci/devices/0000:03:00.0 → ../../../devices/pci0000:00/0000:00:01.0/0000:03:00.0
/` + amd + `
/sys/class/drm/renderD129 → ../../devices/pci0000:00/0000:00:01.0/0000:03:00.0/drm/renderD129
/sys/dev/char/226:129 → ../../devices/pci0000:00/0000:00:01.0/0000:03:00.0/drm/renderD129
/sys/class/kfd/kfd → ../../devices/virtual/kfd/kfd
/sys/devices/virtual/kfd/kfd
/sys/module/amdgpu
`},
		"Intel's, declared": {resource.Intel, nil, `/sys/devices/system/node
/sys/bus/pci/devices/0000:00:02.0 → ../../../devices/pci0000:00/0000:00:02.0
/` + intel + `
/sys/dev/char/226:128 → ../../devices/pci0000:00/0000:00:02.0/drm/renderD128
/dev/dri/by-path/pci-0000:00:02.0-render → ../renderD128
`},
	} {
		got, err := inImageIn(root, c.kind, c.places)
		if text := written(root, got); err != nil || text != c.want || got.Libraries != "" {
			t.Errorf("%s: got %v\n%s\nwant\n%s", name, err, text, c.want)
		}
	}
}

// written returns the shown files, one a line, with the origin if it is at another path.
func written(root string, s Shared) string {
	var b strings.Builder
	for _, x := range s.Shown {
		switch from, _ := strings.CutPrefix(x.From, root); {
		case x.Link != "":
			fmt.Fprintf(&b, "%s → %s\n", x.At, x.Link)
		case from == x.At:
			fmt.Fprintln(&b, x.At)
		default:
			fmt.Fprintf(&b, "%s = %s\n", x.At, from)
		}
	}
	return b.String()
}

// The libraries of NVIDIA's driver have the version of the driver in the kernel. After an update, the
// new ones are of no use until the next start.
func TestNVIDIAInAnImage(t *testing.T) {
	const lib = "usr/lib/x86_64-linux-gnu/nvidia/current/"
	root := tree(t, map[string]string{"sys/module/nvidia/version": "550.90.07\n", "usr/lib64/libcuda.so.550.90.07": "another architecture's"})
	library(t, filepath.Join(root, lib, "libcuda.so.550.90.07"), "libcuda.so.1")
	library(t, filepath.Join(root, lib, "libcuda.so.560.28.03"), "libcuda.so.1")
	library(t, filepath.Join(root, lib, "libnvidia-compiler.so.550.90.07"), "libnvidia-compiler.so.550.90.07")
	library(t, filepath.Join(root, lib, "libnvidia-opencl.so.550.90.07"), "libnvidia-opencl.so.1")
	library(t, filepath.Join(root, lib, "libnvidia-glcore.so.550.90.07"), "libnvidia-glcore.so.550.90.07")
	want := `/sys/module/nvidia
/usr/local/nvidia = 
/usr/local/nvidia/lib64/libcuda.so.550.90.07 = /` + lib + `libcuda.so.550.90.07
/usr/local/nvidia/lib64/libcuda.so.1 → libcuda.so.550.90.07
/usr/local/nvidia/lib64/libcuda.so → libcuda.so.550.90.07
/usr/local/nvidia/lib64/libnvidia-compiler.so.550.90.07 = /` + lib + `libnvidia-compiler.so.550.90.07
/usr/local/nvidia/lib64/libnvidia-opencl.so.550.90.07 = /` + lib + `libnvidia-opencl.so.550.90.07
/usr/local/nvidia/lib64/libnvidia-opencl.so.1 → libnvidia-opencl.so.550.90.07
`
	got, err := inImageIn(root, resource.NVIDIA, nil)
	if text := written(root, got); err != nil || text != want || got.Libraries != "/usr/local/nvidia/lib64" {
		t.Errorf("got %v, %q\n%s\nwant\n%s", err, got.Libraries, text, want)
	}
	for version, missing := range map[string]string{
		"": "/sys/module/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  565.1  Release\nGCC version: 12.2.0\n": "libcuda.so.565.1",
	} {
		root := tree(t, map[string]string{"proc/driver/nvidia/version": version})
		library(t, filepath.Join(root, lib, "libcuda.so.550.90.07"), "libcuda.so.1")
		_, err := inImageIn(root, resource.NVIDIA, nil)
		if m, ok := errors.AsType[*MissingError](err); !ok || m.File != missing {
			t.Errorf("version %q: %v", version, err)
		}
	}
}

func TestWhatNeedsNothingInAnImage(t *testing.T) {
	s := Set{Groups: []Group{{Kind: "fake", Devices: []Device{{}}}, {Kind: resource.NVIDIA, Devices: []Device{{}}}}}
	for _, kind := range []resource.Kind{"none", "fake"} {
		if got, err := s.InImage(kind); err != nil || len(got.Shown) > 0 {
			t.Errorf("%s: %+v, %v", string(kind), got, err)
		}
	}
	if len(s.Access(resource.NVIDIA).Devices) > 0 {
		return // this computer has one
	}
	if _, err := s.InImage(resource.NVIDIA); err == nil || !strings.Contains(err.Error(), "/dev/nvidia0") {
		t.Errorf("a declared device that does not exist: %v", err)
	}
}
