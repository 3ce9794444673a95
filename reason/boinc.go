package reason

import (
	"slices"
	"strings"
)

// BOINC's servers give no codes. Here, and nowhere else, their sentences are searched for parts
// that do not change.

// headings are the first messages that servers send with a reply without work, before the reasons.
//
// Source: BOINC sched/sched_send.cpp.
var headings = []string{"No tasks sent", "No work sent"}

// Messages returns the messages of a reply, without the heading of those that explain why it brought
// no work.
func Messages(all []string) []string {
	if len(all) > 1 && slices.Contains(headings, all[0]) {
		return all[1:]
	}
	return all
}

// coded are the codes in which Starling's server refuses this computer or its account.
var coded = map[string]Code{
	"app_info": OwnRefused, "client_version": ClientTooOld, "code_sign_key": SigningKeyChanged,
	"virtualbox": NoVirtualBox, "containers": NoContainers,
}

// worded are parts of the sentences in which BOINC's servers refuse, in lower case. They give no
// code.
//
// Source: BOINC sched/handle_request.cpp.
var worded = []struct {
	part string
	code Code
}{
	{"invalid or missing account key", KeyRefused},
	{"this project doesn't support computers of type anonymous", OwnRefused},
	{"this project doesn't support computers of type", PlatformRefused},
	{"this project doesn't support operating system", PlatformRefused},
	{"this project doesn't support cpu type", PlatformRefused},
	{"client software is too old", ClientTooOld},
	{"not accepting requests from this host", ComputerRefused},
	{"invalid code signing key", SigningKeyChanged},
	{"project has changed its security key", SigningKeyChanged},
	{"error in request message", ReplyUnusable},
	{"virtualbox is not installed", NoVirtualBox},
	{"virtualbox is not usable", NoVirtualBox},
	{"virtualbox version 3.2 or later is required", NoVirtualBox},
	{"docker not present", NoContainers},
}

// OfReply looks for a refusal of this computer or its account in a reply: in the codes of its
// refusals, and if none of them means that, in its messages. It returns no reason otherwise.
func OfReply(codes, messages []string) Reason {
	for _, c := range codes {
		if code, ok := coded[c]; ok {
			said := strings.Join(Messages(messages), "; ")
			return Reason{Code: code, About: said, Detail: said}
		}
	}
	for _, m := range messages {
		low := strings.ToLower(m)
		for _, r := range worded {
			if strings.Contains(low, r.part) {
				if r.code == ReplyUnusable {
					return Reason{Code: r.code, Detail: m}
				}
				return Reason{Code: r.code, About: m, Detail: m}
			}
		}
	}
	return Reason{}
}

// shortages are parts of the sentences in which servers refuse a computer that has too little of
// something, in lower case.
//
// Source: BOINC sched/sched_check.cpp.
var shortages = map[Code]string{RefusedMemory: "mb ram but only", RefusedDisk: "more disk space"}

// Short reports whether a server's messages refuse this computer for RefusedMemory or RefusedDisk.
func Short(code Code, messages string) bool {
	return strings.Contains(strings.ToLower(messages), shortages[code])
}
