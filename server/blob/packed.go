package blob

import "github.com/starling-grid/starling/protocol"

// Packed is the name of the compressed copy of a file.
func Packed(name string) string { return name + ".gz" }

// Names are the names under which a project has an input file: its own, and that of its
// compressed copy if its description says that there is one.
func Names(f protocol.FileInfo) []string {
	if f.GzippedNBytes > 0 {
		return []string{f.Name, Packed(f.Name)}
	}
	return []string{f.Name}
}
