//go:build !linux

package gpus

// cards is empty: here drivers come with the system, or with the card.
func cards() []Card { return nil }
