// Package opencl speaks to OpenCL's drivers by the library that every vendor's answer
// through, without cgo: which devices there are, and, as far as a simple application needs
// it, computing on one.
//
// Drivers may crash the process, hang or print. See package sharedlib for which programs
// may import this.
//
// Source for all numbers: the OpenCL 3.0 API specification, and of the extensions
// cl_nv_device_attribute_query, cl_amd_device_attribute_query and cl_khr_pci_bus_info
// their specifications in the Khronos registry.
package opencl

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"

	"github.com/starling-grid/starling/internal/sharedlib"
)

// A Library is the loader of all vendors' drivers.
type Library struct {
	sharedlib.Library

	platformIDs  func(n uint32, ids *uintptr, found *uint32) int32
	platformInfo func(platform uintptr, key uint32, size uintptr, value *byte, need *uintptr) int32
	deviceIDs    func(platform uintptr, kinds uint64, n uint32, ids *uintptr, found *uint32) int32
	deviceInfo   func(device uintptr, key uint32, size uintptr, value *byte, need *uintptr) int32
}

// Open loads the library. The error gives the reason if there is none.
func Open() (*Library, error) {
	names := []string{"libOpenCL.so.1", "libOpenCL.so"}
	switch runtime.GOOS {
	case "windows":
		names = []string{"OpenCL.dll"}
	case "darwin":
		names = []string{"/System/Library/Frameworks/OpenCL.framework/Versions/Current/OpenCL"}
	}
	lib, err := sharedlib.Open(names...)
	if err != nil {
		return nil, err
	}
	l := &Library{Library: lib}
	return l, l.bind(map[string]any{
		"clGetPlatformIDs": &l.platformIDs, "clGetPlatformInfo": &l.platformInfo,
		"clGetDeviceIDs": &l.deviceIDs, "clGetDeviceInfo": &l.deviceInfo,
	})
}

func (l *Library) bind(functions map[string]any) error {
	for name, fn := range functions {
		if err := l.Func(fn, name); err != nil {
			return err
		}
	}
	return nil
}

// codes describes the error codes that people meet.
var codes = map[int32]string{
	-1: "device not found", -2: "device not available", -3: "compiler not available", -4: "out of memory on the device",
	-5: "out of resources", -6: "out of memory", -11: "the program does not compile", -30: "invalid value",
	-1001: "no driver is installed",
}

func check(function string, code int32) error { return sharedlib.Check(function, code, codes) }

// A Platform is one driver.
type Platform struct {
	lib                   *Library
	id                    uintptr
	Name, Vendor, Version string
}

// most is the maximum number of platforms that are listed, and of devices of each.
const most = 64

// Platforms are the drivers, in the loader's order. That none is installed is an [Error].
func (l *Library) Platforms() ([]Platform, error) {
	ids, n := make([]uintptr, most), uint32(0)
	if err := check("clGetPlatformIDs", l.platformIDs(most, &ids[0], &n)); err != nil {
		return nil, err
	}
	all := make([]Platform, 0, n)
	for _, id := range ids[:min(n, most)] {
		text := func(key uint32) string { return text(info(l.platformInfo, id, key)) }
		all = append(all, Platform{lib: l, id: id, Version: text(0x0901), Name: text(0x0902), Vendor: text(0x0903)})
	}
	return all, nil
}

// A Type is a set of kinds of devices, as a bit field.
type Type uint64

// The types of devices.
const (
	CPU         Type = 1 << 1
	GPU         Type = 1 << 2
	Accelerator Type = 1 << 3
)

// Devices returns the platform's devices of any of the types, in the driver's order. An empty list
// is not an error.
func (p Platform) Devices(types Type) ([]Device, error) {
	ids, n := make([]uintptr, most), uint32(0)
	code := p.lib.deviceIDs(p.id, uint64(types), most, &ids[0], &n)
	if code == -1 {
		return nil, nil
	}
	if err := check("clGetDeviceIDs", code); err != nil {
		return nil, err
	}
	all := make([]Device, 0, n)
	for _, id := range ids[:min(n, most)] {
		all = append(all, Device{lib: p.lib, platform: p.id, id: id})
	}
	return all, nil
}

// A Device is one of a platform.
type Device struct {
	lib          *Library
	platform, id uintptr
}

// A Key names a fact about a device.
type Key uint32

// Facts about devices.
const (
	DeviceType            Key = 0x1000
	VendorID              Key = 0x1001
	ComputeUnits          Key = 0x1002
	ClockMHz              Key = 0x100C
	SingleFP              Key = 0x101B
	GlobalMemory          Key = 0x101F
	LocalMemory           Key = 0x1023
	LittleEndian          Key = 0x1026
	Available             Key = 0x1027
	ExecutionCapabilities Key = 0x1029
	Name                  Key = 0x102B
	Vendor                Key = 0x102C
	DriverVersion         Key = 0x102D
	Version               Key = 0x102F
	Extensions            Key = 0x1030
	DoubleFP              Key = 0x1032
	HalfFP                Key = 0x1033

	CapabilityMajorNV Key = 0x4000
	CapabilityMinorNV Key = 0x4001
	BusNV             Key = 0x4008
	SlotNV            Key = 0x4009 // device · 8 + function
	DomainNV          Key = 0x400A

	TopologyAMD             Key = 0x4037
	BoardNameAMD            Key = 0x4038
	SIMDPerComputeUnitAMD   Key = 0x4040
	SIMDWidthAMD            Key = 0x4041
	SIMDInstructionWidthAMD Key = 0x4042

	PCIBus Key = 0x410F
)

// maxInfo bounds what one fact may take, in bytes.
const maxInfo = 64 << 10

// Text returns a fact that is text, or "" if the driver does not provide it.
func (d Device) Text(key Key) string { return text(d.info(key)) }

// Number returns a fact that is a number, or 0 if the driver does not provide it.
func (d Device) Number(key Key) uint64 {
	switch b := d.info(key); len(b) {
	case 4:
		return uint64(binary.NativeEndian.Uint32(b))
	case 8:
		return binary.NativeEndian.Uint64(b)
	}
	return 0
}

// PCI returns the device's PCI address, such as "0000:01:00.0", or "" if the driver does not
// provide it.
func (d Device) PCI() string {
	if b := d.info(PCIBus); len(b) == 16 { // domain, bus, device, function
		at := func(i int) uint32 { return binary.NativeEndian.Uint32(b[4*i:]) }
		return pciName(at(0), at(1), at(2), at(3))
	}
	// The type, where 1 is PCI Express, 17 bytes of nothing, then bus, device, function.
	if b := d.info(TopologyAMD); len(b) == 24 && binary.NativeEndian.Uint32(b) == 1 {
		return pciName(0, uint32(b[21]), uint32(b[22]), uint32(b[23]))
	}
	if len(d.info(BusNV)) == 4 {
		at := func(key Key) uint32 { return uint32(d.Number(key) & 0xffffffff) }
		return pciName(at(DomainNV), at(BusNV), at(SlotNV)>>3, at(SlotNV)&7)
	}
	return ""
}

func pciName(domain, bus, dev, function uint32) string {
	return fmt.Sprintf("%04x:%02x:%02x.%x", domain, bus, dev, function)
}

func (d Device) info(key Key) []byte { return info(d.lib.deviceInfo, d.id, uint32(key)) }

// info returns the bytes of a fact, or nil if the driver does not provide it.
func info(ask func(uintptr, uint32, uintptr, *byte, *uintptr) int32, id uintptr, key uint32) []byte {
	var need uintptr
	if ask(id, key, 0, nil, &need) != 0 || need == 0 || need > maxInfo {
		return nil
	}
	b := make([]byte, need)
	if ask(id, key, need, &b[0], nil) != 0 {
		return nil
	}
	return b
}

func text(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return strings.TrimSpace(strings.ToValidUTF8(s, ""))
}
