// Package protocol holds BOINC's wire formats as Go values, with codecs for
// both sides: master page, account calls, scheduler request and reply, file
// transfer, keys and signatures, and the rules for URLs and names.
//
// Decoders take what real peers send: they skip what they do not know, bound
// what they keep, and never panic. Encoders write what the strictest known peer
// accepts. BOINC's float seconds become time.Time and time.Duration here and
// nowhere else. The package does no input or output and uses the standard
// library only; agent and server meet in it.
package protocol
