//go:build !linux

package neighbor

// heldByStranger returns false, because the holders of a lock cannot be found out here.
func heldByStranger(string) bool { return false }
