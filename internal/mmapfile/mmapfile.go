// Package mmapfile maps a file into memory that other processes see as well.
//
// It neither creates the file nor sets its size, and knows nothing of what the
// memory holds. On Windows it is empty: see namedmem.
package mmapfile
