//go:build !linux

package hostinfo

// CPUKinds returns the computer's CPUs by kind, which are known on Linux only.
func CPUKinds() Kinds { return Kinds{} }

// UsableCPUs returns the numbers of the CPUs on which tasks can be placed, none on this system.
func UsableCPUs() []int { return nil }
