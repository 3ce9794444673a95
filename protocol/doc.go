// Package protocol represents BOINC's wire formats as Go values, with codecs for both sides: master
// page, account calls, scheduler request and reply, file transfer, keys and signatures, and the
// rules for URLs and names.
//
// Decoders accept the messages of real peers: they skip unknown elements, bound the data that they
// keep, and never panic. Encoders write messages that the strictest known peer accepts. BOINC's
// float seconds become time.Time and time.Duration here and nowhere else. The package does no input
// or output and uses only the standard library. Agent and server share it.
//
// An element that is both read and written has a function fields, which describes it once for both
// directions. See bxml.Codec.
package protocol
