// Package sandbox restricts a program that was received from a project to its own resources, to
// protect the volunteer's files, other projects' files, the agent's keys and other programs. The
// program's own process restricts itself permanently and then becomes the program. The agent itself
// is not restricted.
//
// docs/security.md describes the restrictions on each system.
package sandbox

// A Policy is the set of a program's permissions.
type Policy struct {
	// Read lists folders and files that it may read and execute. Missing ones are ignored.
	Read []string `json:"read,omitempty"`
	// Write lists folders and files that it may also change.
	Write []string `json:"write,omitempty"`
	// Devices lists files of devices that it may read, write and control.
	Devices []string `json:"devices,omitempty"`
	// List lists folders whose file names it may read, but nothing else.
	List []string `json:"list,omitempty"`
	// Own is the folder in which it may change permissions and times of files. It must be one of
	// Write. "" means none.
	Own string `json:"own,omitempty"`
	// Settled is a folder whose files are already complete. Changes of their permissions or times
	// by the program are reported as successful, but ignored. "" means none.
	Settled string `json:"settled,omitempty"`
	// Root is a folder that becomes the program's "/", where it can read everything. It sees nothing
	// else of the computer except Own, Settled, Shown and a few files of the system at their paths, so
	// Read lists paths below Root. "" means the computer's root.
	Root string `json:"root,omitempty"`
	// Shown lists what else a program with a Root sees of the computer, read-only and in this order.
	// It sees Devices, too.
	Shown []Shown `json:"shown,omitempty"`
	// Temporary is a folder that a program with a Root has as /tmp, /var/tmp and /dev/shm. It must
	// be in Own. "" means that it cannot write there.
	Temporary string `json:"temporary,omitempty"`
	// User is the ID of the user and the group that it becomes. 0 means this process's user. Only
	// root can change it, see TaskUser.
	User int `json:"user,omitempty"`
	// Reach is a folder that User must be able to reach by its path, even if folders above it are
	// closed to other users.
	Reach string `json:"reach,omitempty"`
	// Mark identifies the program and all its descendants, see Marked. They cannot remove it. 0
	// means none.
	Mark uint64 `json:"mark,omitempty"`
	// Network allows it to open TCP connections and ports.
	Network bool `json:"network,omitempty"`
	// MoreTasks is the number of processes and threads that its user may have in addition to those
	// that exist when it starts. At the limit it cannot start others. Root is not limited. 0 means
	// no limit.
	MoreTasks int `json:"more_tasks,omitempty"`
	// Nice is its niceness, where 0 leaves it unchanged. If Idle is set, it gets only CPUs that no other
	// program wants. CPUs are the numbers of those on which it may run, where nil means all. Whatever
	// the system refuses of these is left unchanged.
	Nice int   `json:"nice,omitempty"`
	Idle bool  `json:"idle,omitempty"`
	CPUs []int `json:"cpus,omitempty"`
	// FileBytes is the maximum size of each file that it writes. 0 means no limit.
	FileBytes int64 `json:"file_bytes,omitempty"`
}

// Shown is a part of the computer that a program with a Root sees. Without From and Link, it is an
// empty folder, in which the following ones may be.
type Shown struct {
	At   string `json:"at"`             // absolute path in the program's root
	From string `json:"from,omitempty"` // the file or folder that is there
	Link string `json:"link,omitempty"` // the target of the symbolic link that is there
}
