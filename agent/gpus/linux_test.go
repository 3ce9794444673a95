//go:build linux

package gpus

import (
	"os"
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
