package contact

import "slices"

// headings are the first messages that servers send with a reply without work, before the reasons.
//
// Source: BOINC sched/sched_send.cpp.
var headings = []string{"No tasks sent", "No work sent"}

// Reasons returns the messages of a reply, without the heading of those that explain why it brought
// no work.
func Reasons(messages []string) []string {
	if len(messages) > 1 && slices.Contains(headings, messages[0]) {
		return messages[1:]
	}
	return messages
}
