// Package modeltest drives a project's real parts, scheduler, transitioner,
// validator, assimilator, file deleter and purger on a real database, through random
// histories in virtual time, and checks after each that what must always hold
// does. It holds nothing but tests; make model runs many of them.
//
// A history is a function of its seed. Hosts fail, cheat, lie, go away, come
// back with old state and send garbage; replies are lost, operators cancel,
// clocks step both ways, daemons die between their acts and do things while
// others are in the middle of theirs. Some workunits wait for others, some are for one
// computer or account alone.
//
// Computers are of several platforms and classes of homogeneous redundancy, and many have
// too few CPUs, too little memory or disk for some of the work. There are several
// applications, with weights and with versions of several plan classes, each for some of
// the platforms; versions are withdrawn and published meanwhile. The model keeps
// its own account of who may have what (kinds_test.go), and compares.
//
// The database is SQLite in memory, or with -model.postgres PostgreSQL.
package modeltest
