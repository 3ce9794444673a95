package cuda

import (
	"fmt"
	"runtime"

	"github.com/starling-grid/starling/internal/sharedlib"
)

// nvmlCodes are NVML's codes that people meet, in words. They are not CUDA's.
var nvmlCodes = map[int32]string{
	1: "the library is not initialized", 3: "not supported", 4: "no permission", 6: "not found", 9: "the driver is not loaded",
	12: "the library is too old or too new for the driver", 15: "the device has fallen off the bus; restart the computer",
	18: "the library and the driver are of different versions; restart the computer", 999: "unknown error; the kernel's log may tell more",
}

// openNVML loads and initializes NVIDIA's library for management. It stays so until the
// process ends.
func openNVML() (lib sharedlib.Library, err error) {
	names := []string{"libnvidia-ml.so.1", "libnvidia-ml.so"}
	if runtime.GOOS == "windows" {
		names = []string{"nvml.dll"}
	}
	if lib, err = sharedlib.Open(names...); err != nil {
		return lib, err
	}
	var initialize func() int32
	if err := lib.Func(&initialize, "nvmlInit_v2"); err != nil {
		return lib, err
	}
	return lib, sharedlib.Check("nvmlInit", initialize(), nvmlCodes)
}

// driverVersion asks NVML.
func driverVersion() (string, error) {
	lib, err := openNVML()
	if err != nil {
		return "", err
	}
	var version func(text *byte, size uint32) int32
	if err := lib.Func(&version, "nvmlSystemGetDriverVersion"); err != nil {
		return "", err
	}
	text := make([]byte, maxText)
	if err := sharedlib.Check("nvmlSystemGetDriverVersion", version(&text[0], maxText), nvmlCodes); err != nil {
		return "", err
	}
	return line(text), nil
}

// Sensors read the current state of the devices. They are not for concurrent use.
type Sensors struct {
	Library string // the file that was loaded, "" if none

	count       func(n *uint32) int32
	handle      func(index uint32, device *uintptr) int32
	place       func(device uintptr, at *pciInfo) int32
	temperature func(device uintptr, sensor uint32, celsius *uint32) int32
	utilization func(device uintptr, of *utilization) int32
	memory      func(device uintptr, of *memoryInfo) int32
	power       func(device uintptr, milliwatts *uint32) int32
}

// These are NVML's structures.
type (
	pciInfo struct {
		_                   [16]byte // the place, as older versions write it
		domain, bus, device uint32
		_, _                uint32   // the card's identity
		_                   [32]byte // the place again
	}
	utilization struct{ gpu, _ uint32 } // percent of the last second or so, for computing and for memory
	memoryInfo  struct{ total, _, used uint64 }
)

// onDie is the sensor of the GPU itself.
const onDie = 0

// OpenSensors loads the library. The error is the reason why nothing can be read.
func OpenSensors() (*Sensors, error) {
	var s Sensors
	lib, err := openNVML()
	s.Library = lib.Name
	if err != nil {
		return &s, err
	}
	for symbol, fn := range map[string]any{
		"nvmlDeviceGetCount_v2": &s.count, "nvmlDeviceGetHandleByIndex_v2": &s.handle, "nvmlDeviceGetPciInfo_v3": &s.place,
		"nvmlDeviceGetTemperature": &s.temperature, "nvmlDeviceGetUtilizationRates": &s.utilization, "nvmlDeviceGetMemoryInfo": &s.memory,
		"nvmlDeviceGetPowerUsage": &s.power,
	} {
		if err := lib.Func(fn, symbol); err != nil {
			return &s, err
		}
	}
	return &s, nil
}

// A Reading has the values of a device's sensors.
type Reading struct {
	PCI        string  // as "0000:01:00.0"
	Celsius    float64 // 0: not known
	Busy       float64 // part of the time in which it computed, 0 to 1, below 0 if unknown
	Watts      float64 // power of the card, 0 if unknown
	MemoryUsed int64   // bytes, by all programs
	Memory     int64   // bytes, 0 if unknown
}

// Read reads all devices. It leaves out a device that does not answer, and marks values that a
// device does not provide as unknown.
func (s *Sensors) Read() ([]Reading, error) {
	var n uint32
	if err := sharedlib.Check("nvmlDeviceGetCount", s.count(&n), nvmlCodes); err != nil {
		return nil, err
	}
	var all []Reading
	for i := range n {
		var device uintptr
		var at pciInfo
		if s.handle(i, &device) != 0 || s.place(device, &at) != 0 {
			continue
		}
		r := Reading{PCI: fmt.Sprintf("%04x:%02x:%02x.0", at.domain, at.bus, at.device), Busy: -1}
		var celsius uint32
		if s.temperature(device, onDie, &celsius) == 0 {
			r.Celsius = float64(celsius)
		}
		var use utilization
		if s.utilization(device, &use) == 0 {
			r.Busy = float64(use.gpu) / 100
		}
		var milliwatts uint32
		if s.power(device, &milliwatts) == 0 {
			r.Watts = float64(milliwatts) / 1000
		}
		var memory memoryInfo
		if s.memory(device, &memory) == 0 {
			r.MemoryUsed, r.Memory = int64(memory.used&(1<<62-1)), int64(memory.total&(1<<62-1))
		}
		all = append(all, r)
	}
	return all, nil
}
