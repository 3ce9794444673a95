package workfetch

// Bounds on the amount that one project may bring here, whatever its server answers. Each is far
// above the amounts that honest projects send. Each is also low enough that an agent with all of
// it, from several projects, stays quick and small. Anything beyond the bounds is ignored and the
// volunteer is informed. The server may send it again, because a task that was not accepted is not
// listed among those on the computer.
const (
	// MaxAtOnce is the maximum number of new tasks that one answer may bring, and that one request
	// asks for by our own estimate. BOINC's servers send 10 for each CPU (max_wus_to_send) unless a
	// project sets another number.
	MaxAtOnce = 1000
	// MaxHeld is the maximum number of tasks of one project on this computer, including those that
	// wait to be reported. From this number on, no more are requested.
	MaxHeld = 10_000
	// MaxFiles is the maximum number of files of one project.
	MaxFiles = 50_000
	// MaxVersions is the maximum number of app versions of one project, and likewise of
	// applications. It is enough for some dozens of plan classes.
	MaxVersions = 1000
	// MaxRefs is to how many files one task, workunit or app version may refer.
	MaxRefs = 1000
	// MaxName is the maximum length of the name of a task, workunit or application, in bytes, as in
	// BOINC.
	MaxName = 255
	// MaxMessages is the maximum number of messages accepted from one answer, for people and for
	// applications.
	MaxMessages = 100
	// MaxRefused is the maximum number of reasons for sending no work that are kept of one answer.
	MaxRefused = 8
)
