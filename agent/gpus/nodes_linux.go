package gpus

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/starling-grid/starling/resource"
)

// nodes adds the files that the drivers of a kind need. NVIDIA's devices all need some common
// files. Without known places, as for a declared device, it adds every device of the kind.
func nodes(a *Access, k resource.Kind, places []string) {
	nodesIn("/", a, k, places)
}

func nodesIn(root string, a *Access, k resource.Kind, places []string) {
	at := func(path string) string { return filepath.Join(root, path) }
	a.Read = append(a.Read, at("/sys/bus/pci"), at("/sys/dev/char"), at("/sys/class/drm"), at("/sys/devices"))
	add := func(patterns ...string) {
		for _, p := range patterns {
			found, _ := filepath.Glob(at(p))
			a.Devices = append(a.Devices, found...)
		}
	}
	if k == resource.NVIDIA {
		add("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
		a.Read = append(a.Read, at("/etc/nvidia"), at("/sys/module/nvidia"), at("/sys/module/nvidia_uvm"))
		if len(places) == 0 {
			add("/dev/nvidia[0-9]*")
		}
		for _, place := range places {
			if n := nvidiaMinor(at("/proc/driver/nvidia/gpus/" + place + "/information")); n != "" {
				add("/dev/nvidia" + n)
			} else {
				add("/dev/nvidia[0-9]*") // in a container the numbers are hidden
			}
		}
		return
	}
	a.List = append(a.List, at("/dev/dri"))
	if k == resource.ATI {
		add("/dev/kfd")
		a.Read = append(a.Read, at("/sys/class/kfd"), at("/sys/module/amdgpu"))
	}
	if len(places) == 0 {
		add("/dev/dri/renderD*")
	}
	for _, place := range places {
		found, _ := filepath.Glob(at("/sys/bus/pci/devices/" + place + "/drm/renderD*"))
		for _, node := range found {
			add("/dev/dri/" + filepath.Base(node))
		}
	}
}

// nvidiaMinor returns the number of a device's file, or "" if the driver does not have it.
func nvidiaMinor(file string) string {
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		if key, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "Device Minor" {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
