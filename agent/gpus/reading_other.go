//go:build !linux

package gpus

// readings are those of NVIDIA's driver alone here.
func readings() []Reading { return nil }
