// Package busyfile waits for files that another program has open for a moment. On Windows, virus
// scanners and search indexes open newly written files, and an open file can be neither renamed nor
// removed.
//
// On other systems the package does nothing.
package busyfile
