package hostinfo

// For tests.
var Sessions = sessions
