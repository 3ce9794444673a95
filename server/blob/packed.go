package blob

import "github.com/starling-grid/starling/protocol"

// Packed is the name of the compressed copy of a file.
func Packed(name string) string { return name + ".gz" }

// Names returns the names of an input file in a project: its own, and the name of its compressed
// copy if its description has one.
func Names(f protocol.FileInfo) []string {
	if f.GzippedNBytes > 0 {
		return []string{f.Name, Packed(f.Name)}
	}
	return []string{f.Name}
}
