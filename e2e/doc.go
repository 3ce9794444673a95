// Package e2e holds the tests in which real programs meet as processes: our
// agent and BOINC's own client with our server, applications that were built
// for BOINC and such that know nothing of it, and power cuts in between.
package e2e
