package workfetch

// Bounds on the content of one project's answers. Each is far above the needs of honest projects
// and low enough for an agent with several such projects to stay quick and small. The agent drops
// the excess and reports that to the volunteer. The server may send it again, because a dropped
// task is not listed among the computer's tasks.
const (
	// MaxAtOnce is the maximum number of new tasks in one answer, and of those that one request
	// asks for by the agent's estimate. BOINC's servers send 10 for each CPU (max_wus_to_send)
	// unless a project sets another number.
	MaxAtOnce = 1000
	// MaxHeld is the maximum number of tasks of one project on this computer, including those that
	// wait to be reported. The agent does not ask for more then.
	MaxHeld = 10_000
	// MaxFiles is the maximum number of files of one project in the state.
	MaxFiles = 50_000
	// MaxVersions is the maximum number of app versions of one project in the state, and likewise
	// of applications. It suffices for some dozens of plan classes.
	MaxVersions = 1000
	// MaxRefs is to how many files one task, workunit or app version may refer.
	MaxRefs = 1000
	// MaxName is the maximum length of the name of a task, workunit or application, in bytes, as
	// with BOINC.
	MaxName = 255
	// MaxMessages is the maximum number of messages that the agent accepts from one answer, for
	// people and for applications each.
	MaxMessages = 100
)
