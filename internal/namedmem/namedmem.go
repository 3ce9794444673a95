// Package namedmem has memory that processes of Windows share by its name, which is how
// BOINC's clients and applications speak with each other there.
//
// It knows nothing of what the memory holds. On other systems it is empty: see mmapfile.
package namedmem
