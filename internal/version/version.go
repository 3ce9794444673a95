// Package version holds the version of Starling.
package version

// Version is the version of all programs here. A release build sets it, see Makefile.
var Version = "0.1.0-dev"

// ReleaseURL is the default address for looking up the newest version. It is set only in builds
// that no package manager updates.
var ReleaseURL = ""
