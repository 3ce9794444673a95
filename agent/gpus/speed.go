package gpus

// nvidiaSpeed returns the peak speed of an NVIDIA device in single precision, in operations a
// second: its multiprocessors, times the cores of each and the operations of a core at a tick,
// which follow from the compute capability, times the clock. It returns 0 if that is unknown.
//
// Source: BOINC lib/coproc.cpp, COPROC_NVIDIA::set_peak_flops.
func nvidiaSpeed(major, minor, multiprocessors int, hertz float64) float64 {
	perTick, cores := 2, 128
	switch {
	case major <= 0: // unknown: as of the second generation
		cores = 48
	case major == 1:
		perTick, cores = 3, 8
	case major == 2 && minor == 0:
		cores = 32
	case major == 2:
		cores = 48
	case major == 3:
		cores = 192
	case major == 7, major == 6 && minor == 0, major == 8 && minor == 0:
		cores = 64
	}
	return float64(multiprocessors) * float64(cores) * float64(perTick) * hertz
}

// openCLSpeed returns the peak speed of another vendor's device, from OpenCL's description of it.
// An AMD device does two operations in each lane of a compute unit at a tick, if its extension has
// the number of lanes, and else 80 on a unit. Devices of Intel and Apple do 8 on a unit. So do
// others, since there is no better number. The result is 0 if the speed is unknown.
//
// Source: BOINC lib/coproc.cpp, COPROC_ATI::set_peak_flops and those of Intel and Apple;
// client/gpu_opencl.cpp for the others.
func openCLSpeed(d OpenCLDevice) float64 {
	perUnit := 8
	if d.Kind == kindATI {
		if perUnit = 2 * d.Lanes; d.Lanes == 0 {
			perUnit = 16 * 5
		}
	}
	return float64(d.Facts.ComputeUnits) * float64(perUnit) * float64(d.Facts.ClockMHz) * 1e6
}
