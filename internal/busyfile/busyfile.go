// Package busyfile waits for files that another program has open for a moment, as virus
// scanners and search indexes of Windows do with what was just written: a file that is open
// can be neither renamed nor removed there.
//
// On other systems it does nothing.
package busyfile
