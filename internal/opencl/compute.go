package opencl

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// computing are the functions with which a device computes.
type computing struct {
	createContext func(properties *uintptr, n uint32, devices *uintptr, notify, user uintptr, code *int32) uintptr
	createQueue   func(context, device uintptr, properties uint64, code *int32) uintptr
	createProgram func(context uintptr, n uint32, text **byte, sizes *uintptr, code *int32) uintptr
	build         func(program uintptr, n uint32, devices *uintptr, options string, notify, user uintptr) int32
	buildInfo     func(program, device uintptr, key uint32, size uintptr, value *byte, need *uintptr) int32
	createKernel  func(program uintptr, name string, code *int32) uintptr
	createBuffer  func(context uintptr, flags uint64, size uintptr, host *byte, code *int32) uintptr
	setArg        func(kernel uintptr, index uint32, size uintptr, value *byte) int32
	enqueue       func(queue, kernel uintptr, dimensions uint32, offset, global, local *uintptr, n uint32, wait, event *uintptr) int32
	read          func(queue, buffer uintptr, blocking uint32, offset, size uintptr, into *byte, n uint32, wait, event *uintptr) int32
	finish        func(queue uintptr) int32
}

// A Kernel is a function of a program that was compiled for a device, with a buffer that it writes.
// It belongs to one goroutine. Its resources are released when the process ends.
type Kernel struct {
	do                    computing
	queue, kernel, buffer uintptr
	size                  int
}

// readWrite is the flag of a buffer that a kernel reads and writes.
const readWrite = 1

// Compile compiles a program for the device and returns its function of that name. The function's
// first argument is a global buffer of size bytes. The error includes the compiler's log.
func (d Device) Compile(source, name string, size int) (*Kernel, error) {
	k := &Kernel{size: size}
	do := &k.do
	if err := d.lib.bind(map[string]any{
		"clCreateContext": &do.createContext, "clCreateCommandQueue": &do.createQueue, "clCreateProgramWithSource": &do.createProgram,
		"clBuildProgram": &do.build, "clGetProgramBuildInfo": &do.buildInfo, "clCreateKernel": &do.createKernel, "clCreateBuffer": &do.createBuffer,
		"clSetKernelArg": &do.setArg, "clEnqueueNDRangeKernel": &do.enqueue, "clEnqueueReadBuffer": &do.read, "clFinish": &do.finish,
	}); err != nil {
		return nil, err
	}
	const platformProperty = 0x1084
	var code int32
	context := do.createContext(&[]uintptr{platformProperty, d.platform, 0}[0], 1, &d.id, 0, 0, &code)
	if err := check("clCreateContext", code); err != nil {
		return nil, err
	}
	if k.queue = do.createQueue(context, d.id, 0, &code); code != 0 {
		return nil, check("clCreateCommandQueue", code)
	}
	text, length := []byte(source), uintptr(len(source))
	at := &text[0]
	program := do.createProgram(context, 1, &at, &length, &code)
	if err := check("clCreateProgramWithSource", code); err != nil {
		return nil, err
	}
	if err := check("clBuildProgram", do.build(program, 1, &d.id, "", 0, 0)); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, d.log(do, program))
	}
	if k.kernel = do.createKernel(program, name, &code); code != 0 {
		return nil, check("clCreateKernel", code)
	}
	if k.buffer = do.createBuffer(context, readWrite, uintptr(size), nil, &code); code != 0 {
		return nil, check("clCreateBuffer", code)
	}
	return k, k.arg(0, uint64(k.buffer))
}

// log returns the compiler's log for a program.
func (d Device) log(do *computing, program uintptr) string {
	const buildLog = 0x1183
	return text(info(func(_ uintptr, key uint32, size uintptr, value *byte, need *uintptr) int32 {
		return do.buildInfo(program, d.id, key, size, value, need)
	}, d.id, buildLog))
}

// arg sets an argument of 64 bits.
func (k *Kernel) arg(index uint32, v uint64) error {
	b := binary.NativeEndian.AppendUint64(nil, v)
	return check("clSetKernelArg", k.do.setArg(k.kernel, index, uintptr(len(b)), &b[0]))
}

// Run has so many items computed, with args, each a ulong, as the arguments after the
// buffer, and reads the buffer into out once all are done.
func (k *Kernel) Run(items int, out []byte, args ...uint64) error {
	if items < 1 || len(out) != k.size {
		return errors.New("nothing to compute, or not the buffer's size")
	}
	for i, v := range args {
		if err := k.arg(uint32(i+1), v); err != nil {
			return err
		}
	}
	n := uintptr(items)
	if err := check("clEnqueueNDRangeKernel", k.do.enqueue(k.queue, k.kernel, 1, nil, &n, nil, 0, nil, nil)); err != nil {
		return err
	}
	if err := check("clEnqueueReadBuffer", k.do.read(k.queue, k.buffer, 1, 0, uintptr(len(out)), &out[0], 0, nil, nil)); err != nil {
		return err
	}
	return check("clFinish", k.do.finish(k.queue))
}

// Choose returns the device that a client assigned to a task. If kind is BOINC's name for a
// vendor's GPUs, index counts the GPUs of the vendor's platform. For any other kind it counts all
// devices of all platforms.
//
// Source for the first: BOINC api/boinc_opencl.cpp, boinc_get_opencl_ids_aux.
func (l *Library) Choose(kind string, index int) (Device, error) {
	platforms, err := l.Platforms()
	if err != nil {
		return Device{}, err
	}
	at := 0
	for _, p := range platforms {
		vendors := VendorKinds[kind] != nil
		types := CPU | GPU | Accelerator
		if vendors {
			types, at = GPU|Accelerator, 0
		}
		devices, err := p.Devices(types)
		if err != nil {
			return Device{}, err
		}
		if i := index - at; i >= 0 && i < len(devices) && (!vendors || KindOf(devices[i].Text(Vendor)) == kind) {
			return devices[i], nil
		}
		at += len(devices)
	}
	return Device{}, fmt.Errorf("there is no OpenCL device %d of kind %s", index, kind)
}

// VendorKinds has the parts of vendors' names by which GPUs are recognized, by BOINC's name for the
// kind.
//
// Source: BOINC api/boinc_opencl.cpp, get_vendor.
var VendorKinds = map[string][]string{
	"NVIDIA": {"nvidia"}, "ATI": {"amd", "advanced micro devices"}, "intel_gpu": {"intel"}, "apple_gpu": {"apple"},
}

// KindOf returns BOINC's name for a vendor's GPUs, or "" if BOINC does not name them.
func KindOf(vendor string) string {
	vendor = strings.ToLower(vendor)
	for kind, names := range VendorKinds {
		for _, name := range names {
			if strings.Contains(vendor, name) {
				return kind
			}
		}
	}
	return ""
}

// Words reads numbers of 64 bits as a device of this computer writes them.
func Words(b []byte) []uint64 {
	all := make([]uint64, len(b)/8)
	_ = binary.Read(bytes.NewReader(b), binary.NativeEndian, all) // cannot fail: it is as long
	return all
}
