// Package sandbox keeps a program that came from a project away from what is not
// its own: the volunteer's files, other projects' files, the agent's keys, other
// programs. The program's own process restricts itself for good and then becomes
// the program; the agent stays as it is.
//
// What each system enforces stands in docs/security.md.
package sandbox

// A Policy is what a program may do.
type Policy struct {
	// Read are folders and files that it may read and execute; what is not there
	// is passed over.
	Read []string `json:"read,omitempty"`
	// Write are folders and files that it may change as well.
	Write []string `json:"write,omitempty"`
	// Devices are files of devices that it may read, write and control.
	Devices []string `json:"devices,omitempty"`
	// List are folders of which it may see the names of files, and nothing else.
	List []string `json:"list,omitempty"`
	// Own is the folder in which it may change permissions and times of files;
	// it must be one of Write. "" is none.
	Own string `json:"own,omitempty"`
	// Settled is a folder whose files are as they should be: that it changes their
	// permissions or times is reported as done, and has no effect. "" is none.
	Settled string `json:"settled,omitempty"`
	// User is the id of the user and the group that it becomes; 0 leaves it this
	// process's. Only root can change it, see TaskUser.
	User int `json:"user,omitempty"`
	// Reach is a folder that User must be able to get to by its path, although
	// folders above it may be closed to others.
	Reach string `json:"reach,omitempty"`
	// Mark tells the program and all processes that come of it from all others,
	// see Marked. They cannot take it off. 0 is none.
	Mark uint64 `json:"mark,omitempty"`
	// Network lets it open TCP connections and ports.
	Network bool `json:"network,omitempty"`
	// MoreTasks bounds how many processes and threads its user may have while it
	// starts another: these over those that there are when it begins. Root is not
	// bound. 0: no bound.
	MoreTasks int `json:"more_tasks,omitempty"`
	// FileBytes bounds each file that it writes; 0: no bound.
	FileBytes int64 `json:"file_bytes,omitempty"`
}
