// Package cuda reads the list of devices and their sensors from NVIDIA's driver, without cgo. It
// computes nothing. See package sharedlib for which programs may import this.
//
// Source for names and numbers: the CUDA driver API and NVML reference manuals.
package cuda

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"

	"github.com/starling-grid/starling/internal/sharedlib"
)

// A Device is one that the driver offers.
type Device struct {
	Name            string
	Memory          int64 // bytes
	Major, Minor    int   // compute capability
	ClockKHz        int   // peak
	Multiprocessors int
	PCI             string // as "0000:01:00.0"
}

// A Driver is NVIDIA's driver with its devices.
type Driver struct {
	Version string // such as "550.90.07", "" if NVML does not provide it
	CUDA    int    // as 12040 for 12.4
	Library string // the file name of the driver's library, "" without a driver
	Devices []Device
}

// codes describes the error codes that people meet.
var codes = map[int32]string{
	2: "out of memory", 3: "the driver is not initialized", 34: "this library is only a stub", 35: "the driver is older than the library",
	46: "the device is not available, perhaps because another program has it alone", 100: "no device", 101: "invalid device",
	802: "the system is not ready yet", 803: "the library does not fit the driver: restart the computer, or install the same version of both",
	804: "this device needs another version of the library", 999: "unknown error; the kernel's log may tell more",
}

func check(function string, code int32) error { return sharedlib.Check(function, code, codes) }

// Attributes of devices.
const (
	clockRate           = 13
	multiprocessorCount = 16
	pciBus              = 33
	pciDevice           = 34
	pciDomain           = 50
	capabilityMajor     = 75
	capabilityMinor     = 76
)

// maxText bounds the texts that are read, in bytes.
const maxText = 256

// Probe queries the driver. The error is the reason why there is none, or the failure.
func Probe() (Driver, error) {
	var d Driver
	d.Version, _ = driverVersion() // without it the devices still count
	names := []string{"libcuda.so.1", "libcuda.so"}
	switch runtime.GOOS {
	case "windows":
		names = []string{"nvcuda.dll"}
	case "darwin":
		names = []string{"/usr/local/cuda/lib/libcuda.dylib"}
	}
	lib, err := sharedlib.Open(names...)
	if err != nil {
		return d, err
	}
	d.Library = lib.Name
	var (
		initialize func(flags uint32) int32
		version    func(v *int32) int32
		count      func(n *int32) int32
		device     func(device *int32, ordinal int32) int32
		name       func(text *byte, size, device int32) int32
		memory     func(bytes *uintptr, device int32) int32
		attribute  func(v *int32, attribute, device int32) int32
	)
	for symbol, fn := range map[string]any{
		"cuInit": &initialize, "cuDriverGetVersion": &version, "cuDeviceGetCount": &count, "cuDeviceGet": &device,
		"cuDeviceGetName": &name, "cuDeviceTotalMem_v2": &memory, "cuDeviceGetAttribute": &attribute,
	} {
		if err := lib.Func(fn, symbol); err != nil {
			return d, err
		}
	}
	var n, v int32
	if err := check("cuInit", initialize(0)); err != nil {
		return d, err
	}
	if err := check("cuDriverGetVersion", version(&v)); err != nil {
		return d, err
	}
	d.CUDA = int(v)
	if err := check("cuDeviceGetCount", count(&n)); err != nil {
		return d, err
	}
	for i := range n {
		var id int32
		if err := check("cuDeviceGet", device(&id, i)); err != nil {
			return d, err
		}
		text, size := make([]byte, maxText), uintptr(0)
		if err := check("cuDeviceGetName", name(&text[0], maxText, id)); err != nil {
			return d, err
		}
		if err := check("cuDeviceTotalMem", memory(&size, id)); err != nil {
			return d, err
		}
		of := func(key int32) int {
			var v int32
			if attribute(&v, key, id) != 0 {
				return 0
			}
			return int(v)
		}
		d.Devices = append(d.Devices, Device{
			Name: line(text), Memory: int64(size), Major: of(capabilityMajor), Minor: of(capabilityMinor),
			ClockKHz: of(clockRate), Multiprocessors: of(multiprocessorCount),
			PCI: fmt.Sprintf("%04x:%02x:%02x.0", of(pciDomain), of(pciBus), of(pciDevice)),
		})
	}
	return d, nil
}

func line(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return strings.TrimSpace(strings.ToValidUTF8(string(b), ""))
}
