// Package version knows which version of Starling this is.
package version

// Version is that of all programs here. A release build sets it; see Makefile.
var Version = "0.1.0-dev"

// ReleaseURL tells which version is the newest, where settings do not say. Only a
// build that no package manager looks after sets it.
var ReleaseURL = ""
