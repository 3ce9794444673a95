// Package world runs a whole project in virtual time: the server's real handlers and daemons on a
// real database, and many computers with the real agent, in one process. A seed determines
// everything that goes wrong: messages are lost, cut off, repeated and late, agents and daemons are
// killed, computers are cloned, restored from backups or gone forever, disks are full, applications
// fail and lie.
//
// Then all of that stops, and the conditions that must be true at rest are checked. The package has
// only tests. "make world" runs many worlds. Only applications are not real: see apps_test.go.
package world
