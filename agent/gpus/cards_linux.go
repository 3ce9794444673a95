package gpus

import (
	"errors"
	"io/fs"
	"iter"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/starling-grid/starling/resource"
)

// vendorIDs are the vendors' numbers in PCI.
var vendorIDs = map[string]resource.Kind{"0x10de": resource.NVIDIA, "0x1002": resource.ATI, "0x8086": resource.Intel}

// displays are the beginnings of the classes of devices that may compute: VGA, 3D and
// other display controllers, and accelerators.
var displays = []string{"0x0300", "0x0302", "0x0380", "0x1200"}

// displaysIn yields the folders of the devices that may compute, in the order of their places,
// with their kinds.
func displaysIn(devices string) iter.Seq2[string, resource.Kind] {
	return func(yield func(string, resource.Kind) bool) {
		entries, _ := os.ReadDir(devices) // without the folder there are no devices
		for _, e := range entries {
			dir := filepath.Join(devices, e.Name())
			kind, known := vendorIDs[value(dir, "vendor")]
			class := value(dir, "class")
			if known && slices.ContainsFunc(displays, func(prefix string) bool { return strings.HasPrefix(class, prefix) }) && !yield(dir, kind) {
				return
			}
		}
	}
}

// cards lists the computer's GPUs.
func cards() []Card { return cardsIn("/sys/bus/pci/devices", "/dev") }

func cardsIn(devices, dev string) (all []Card) {
	for dir, kind := range displaysIn(devices) {
		c := Card{PCI: filepath.Base(dir), Kind: kind}
		if to, err := os.Readlink(filepath.Join(dir, "driver")); err == nil {
			c.Module = filepath.Base(to)
		}
		if c.Module == "nvidia" {
			c.Node = filepath.Join(dev, "nvidiactl")
		} else if nodes, _ := filepath.Glob(filepath.Join(dir, "drm", "renderD*")); len(nodes) > 0 {
			c.Node = filepath.Join(dev, "dri", filepath.Base(nodes[0]))
		}
		c.try()
		all = append(all, c)
	}
	return all
}

func value(dir, name string) string {
	b, _ := os.ReadFile(filepath.Join(dir, name))
	return strings.TrimSpace(string(b))
}

// try finds out whether the card's node can be opened.
func (c *Card) try() {
	if c.Node == "" {
		return
	}
	f, err := os.OpenFile(c.Node, os.O_RDWR, 0)
	if err == nil {
		_ = f.Close()
		return
	}
	if errors.Is(err, fs.ErrNotExist) { // the driver makes it later, or a container lacks it
		c.Node = ""
		return
	}
	c.Closed = err.Error()
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		c.Closed = e.Err.Error()
	}
	st, err := os.Stat(c.Node)
	if err != nil || st.Mode().Perm()&0o060 != 0o060 {
		return
	}
	if own, ok := st.Sys().(*syscall.Stat_t); ok {
		c.Group = strconv.Itoa(int(own.Gid))
		if g, err := user.LookupGroupId(c.Group); err == nil {
			c.Group = g.Name
		}
	}
}
