// Package mmapfile maps a file into memory that other processes see as well.
//
// It neither creates the file nor sets its size, and does not interpret its content. On Windows the
// package is empty, and namedmem takes its place.
package mmapfile
