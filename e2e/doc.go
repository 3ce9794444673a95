// Package e2e contains tests that run real programs as processes: our agent and BOINC's own client
// with our server, applications with and without BOINC's interface, and power cuts in between.
package e2e
