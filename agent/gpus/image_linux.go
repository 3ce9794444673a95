package gpus

import (
	"debug/elf"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/starling-grid/starling/resource"
)

// driverFolder is the folder of an image that has the libraries of NVIDIA's driver. NVIDIA's own
// images have it in their LD_LIBRARY_PATH. What else an image has in its parent folder is hidden.
const (
	driverParent = "/usr/local/nvidia"
	driverFolder = driverParent + "/lib64"
)

// driverLibraries are the libraries of NVIDIA's driver that programs need to compute and to read
// sensors. Drivers have only some of them.
//
// Source: NVIDIA/libnvidia-container, src/nvc_info.c, compute_libs and utility_libs.
var driverLibraries = []string{
	"libcuda.so", "libcudadebugger.so", "libnvidia-allocator.so", "libnvidia-cfg.so", "libnvidia-compiler.so", "libnvidia-fatbinaryloader.so",
	"libnvidia-gpucomp.so", "libnvidia-ml.so", "libnvidia-nvvm.so", "libnvidia-opencl.so", "libnvidia-pkcs11-openssl3.so", "libnvidia-pkcs11.so",
	"libnvidia-ptxjitcompiler.so", "libnvidia-tileiras.so",
}

// libraryFolders are where distributions have these libraries: Debian and Ubuntu, Fedora and
// openSUSE, Arch, NixOS.
var libraryFolders = []string{"/usr/lib/*-linux-gnu", "/usr/lib/*-linux-gnu/nvidia/*", "/usr/lib64", "/usr/lib", "/run/opengl-driver/lib"}

// inImage returns what tasks in images share for devices of a kind at these places. The folders of
// sysfs are those that the libraries of the drivers read.
//
// Sources: libdrm (xf86drm.c), ROCm's libhsakmt (topology.c), Intel's compute-runtime (drm_neo.cpp).
func inImage(k resource.Kind, places []string) (Shared, error) { return inImageIn("/", k, places) }

func inImageIn(root string, k resource.Kind, places []string) (Shared, error) {
	v := view{root: root}
	if len(places) == 0 { // a declared device
		for dir, kind := range displaysIn(v.at("/sys/bus/pci/devices")) {
			if kind == k {
				places = append(places, filepath.Base(dir))
			}
		}
	}
	v.show("/sys/devices/system/node")
	for _, place := range places {
		device := "/sys/bus/pci/devices/" + place
		v.show(device)
		if k == resource.NVIDIA {
			continue
		}
		found, _ := filepath.Glob(v.at(device + "/drm/renderD*"))
		for _, dir := range found {
			v.show("/sys/class/drm/" + filepath.Base(dir))
			v.show("/sys/dev/char/" + value(dir, "dev"))
			v.show("/dev/dri/by-path/pci-" + place + "-render")
		}
	}
	switch k {
	case resource.ATI:
		v.show("/sys/class/kfd/kfd")
		v.show("/sys/module/amdgpu")
	case resource.NVIDIA:
		v.show("/sys/module/nvidia")
		v.show("/sys/module/nvidia_uvm")
		if err := v.driver(); err != nil {
			return Shared{}, err
		}
		v.Libraries = driverFolder
	}
	return v.Shared, nil
}

// A view collects the files to show. In tests, root is a folder.
type view struct {
	Shared
	root string
}

func (v *view) at(path string) string { return filepath.Join(v.root, path) }

// show adds a file or folder at its path. A link is shown as such, and its target as well. The
// devices themselves are shown anyway.
func (v *view) show(path string) {
	info, err := os.Lstat(v.at(path))
	if err != nil || strings.HasSuffix(path, "/") || info.Mode()&os.ModeDevice != 0 {
		return
	}
	if info.Mode()&os.ModeSymlink == 0 {
		inside := func(s Shown) bool { return s.From != "" && strings.HasPrefix(path+"/", s.At+"/") }
		if !slices.ContainsFunc(v.Shown, inside) {
			v.Shown = append(v.Shown, Shown{At: path, From: v.at(path)})
		}
		return
	}
	target, err := os.Readlink(v.at(path))
	if err != nil || filepath.IsAbs(target) {
		return
	}
	v.Shown = append(v.Shown, Shown{At: path, Link: target})
	v.show(filepath.Join(filepath.Dir(path), target))
}

// driver adds the libraries of NVIDIA's driver. They must have the version of the part that is in the
// kernel.
func (v *view) driver() error {
	version := v.version()
	if version == "" {
		return &MissingError{"/sys/module/nvidia/version"}
	}
	var dir string
	for _, pattern := range libraryFolders {
		found, _ := filepath.Glob(v.at(pattern))
		for _, d := range found {
			if dir == "" && soname(filepath.Join(d, "libcuda.so."+version)) != "" {
				dir = d
			}
		}
	}
	if dir == "" {
		return &MissingError{"libcuda.so." + version}
	}
	v.Shown = append(v.Shown, Shown{At: driverParent})
	for _, name := range driverLibraries {
		file := name + "." + version
		own := soname(filepath.Join(dir, file))
		from, err := filepath.EvalSymlinks(filepath.Join(dir, file))
		if own == "" || err != nil {
			continue
		}
		v.Shown = append(v.Shown, Shown{At: driverFolder + "/" + file, From: from})
		if own != file {
			v.Shown = append(v.Shown, Shown{At: driverFolder + "/" + own, Link: file})
		}
		if name == "libcuda.so" && own != name { // programs load it by this name, too
			v.Shown = append(v.Shown, Shown{At: driverFolder + "/" + name, Link: file})
		}
	}
	return nil
}

var driverVersion = regexp.MustCompile(`\b[0-9]+\.[0-9]+(\.[0-9]+)?\b`)

// version returns the version of the driver in the kernel. A container may hide one of the files.
func (v *view) version() string {
	if text := value(v.at("/sys/module/nvidia"), "version"); driverVersion.FindString(text) == text && text != "" {
		return text
	}
	first, _, _ := strings.Cut(value(v.at("/proc/driver/nvidia"), "version"), "\n")
	return driverVersion.FindString(first)
}

// machines are this program's architectures by the names in libraries.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// soname returns the name by which programs load a library, usually the one that is stored in it. It
// returns "" if the file is missing or is not a library for this architecture.
func soname(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if f.Class != elf.ELFCLASS64 || f.Machine != machines[runtime.GOARCH] {
		return ""
	}
	if names, err := f.DynString(elf.DT_SONAME); err == nil && len(names) == 1 && names[0] == filepath.Base(names[0]) {
		return names[0]
	}
	return filepath.Base(path)
}
