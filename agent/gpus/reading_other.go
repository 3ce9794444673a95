//go:build !linux

package gpus

// readings is empty: on these systems only NVIDIA's driver has readings.
func readings() []Reading { return nil }
