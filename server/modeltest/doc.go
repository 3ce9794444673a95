// Package modeltest drives a project's real parts, scheduler, transitioner, validator, assimilator,
// file deleter and purger on a real database, through random histories in virtual time, and checks
// the invariants after each. It contains only tests. make model runs many of them.
//
// A history is a function of its seed. Hosts fail, cheat, lie, disappear, return with old state and
// send garbage. Replies are lost, operators cancel, clocks step both ways, daemons die between
// their actions and act while others are in the middle of theirs. Some workunits wait for others,
// some are for one computer or account alone.
//
// Computers are of several platforms and classes of homogeneous redundancy, and many have too few
// CPUs, too little memory or disk for some of the work. There are several applications, with
// weights and with versions of several plan classes, each for some of the platforms. Versions are
// withdrawn and published meanwhile. The model keeps a separate record of the work that each
// computer may have (kinds_test.go), and compares.
//
// The database is SQLite in memory, or with STARLING_MODEL_POSTGRES=1 PostgreSQL.
package modeltest
