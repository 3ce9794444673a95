// Package namedmem provides memory that processes of Windows share by its name. BOINC's clients and
// applications communicate through it there.
//
// It does not interpret the content of the memory. On other systems the package is empty, and
// mmapfile takes its place.
package namedmem
