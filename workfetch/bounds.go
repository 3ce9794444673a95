package workfetch

// Bounds on what one project may bring here, whatever its server answers. Each is
// far above what honest projects send and low enough for an agent that holds all
// of it, of several projects, to stay quick and small. What is beyond them is not
// taken, the volunteer is told, and the server may send it again: a task that was
// not taken is not listed among those the computer has.
const (
	// MaxAtOnce is how many new tasks one answer may bring, and by our own
	// reckoning one request asks for. BOINC's servers send 10 for each CPU
	// (max_wus_to_send) unless a project wants it otherwise.
	MaxAtOnce = 1000
	// MaxHeld is how many tasks of one project may be here, those that wait to be
	// reported included. No more are asked for then.
	MaxHeld = 10_000
	// MaxFiles is how many files of one project may be known.
	MaxFiles = 50_000
	// MaxVersions is how many app versions of one project may be known, and of
	// applications likewise: those of some dozens of plan classes.
	MaxVersions = 1000
	// MaxRefs is to how many files one task, workunit or app version may refer.
	MaxRefs = 1000
	// MaxName is how long the name of a task, workunit or application may be, in
	// bytes, as with BOINC.
	MaxName = 255
	// MaxMessages is how many messages of one answer are taken in: those for
	// people and those for applications.
	MaxMessages = 100
)
