//go:build !linux

package gpus

// cards is empty: on these systems drivers are installed with the system, or with the card.
func cards() []Card { return nil }
