package store

import "strconv"

// These states have BOINC's numbers, which are in the database and in people's SQL.

// ServerState is the progress of a result on the server.
type ServerState int64

const (
	Inactive   ServerState = 1
	Unsent     ServerState = 2
	InProgress ServerState = 4
	Over       ServerState = 5
)

func (s ServerState) String() string {
	return name(int64(s), map[int64]string{1: "inactive", 2: "unsent", 4: "in_progress", 5: "over"})
}

// Outcome is the way in which a result ended. It is meaningful once the result is Over.
type Outcome int64

const (
	OutcomeInit    Outcome = 0
	Success        Outcome = 1
	CouldntSend    Outcome = 2
	ClientError    Outcome = 3
	NoReply        Outcome = 4
	DidntNeed      Outcome = 5
	ValidateError  Outcome = 6
	ClientDetached Outcome = 7
)

var outcomeNames = map[int64]string{
	0: "init", 1: "success", 2: "couldnt_send", 3: "client_error",
	4: "no_reply", 5: "didnt_need", 6: "validate_error", 7: "client_detached",
}

func (o Outcome) String() string { return name(int64(o), outcomeNames) }

// ValidateState is the validator's verdict on a result.
type ValidateState int64

const (
	ValidateInit ValidateState = 0
	Valid        ValidateState = 1
	Invalid      ValidateState = 2
	NoCheck      ValidateState = 3
	Inconclusive ValidateState = 4
	TooLate      ValidateState = 5
)

var validateNames = map[int64]string{
	0: "init", 1: "valid", 2: "invalid", 3: "no_check", 4: "inconclusive", 5: "too_late",
}

func (v ValidateState) String() string { return name(int64(v), validateNames) }

// AssimilateState is the progress of taking a workunit's outcome into the project.
type AssimilateState int64

const (
	AssimilateInit  AssimilateState = 0
	AssimilateReady AssimilateState = 1
	AssimilateDone  AssimilateState = 2
)

func (a AssimilateState) String() string {
	return name(int64(a), map[int64]string{0: "init", 1: "ready", 2: "done"})
}

// FileDeleteState is the progress of deleting the input files of a workunit or the output files of
// a result.
type FileDeleteState int64

const (
	DeleteInit  FileDeleteState = 0
	DeleteReady FileDeleteState = 1
	DeleteDone  FileDeleteState = 2
	DeleteError FileDeleteState = 3
)

func (f FileDeleteState) String() string {
	return name(int64(f), map[int64]string{0: "init", 1: "ready", 2: "done", 3: "error"})
}

// ErrorMask has the reasons why a workunit was given up, or is 0.
type ErrorMask int64

const (
	ErrorCouldntSend      ErrorMask = 1
	ErrorTooManyErrors    ErrorMask = 2
	ErrorTooManySuccesses ErrorMask = 4
	ErrorTooManyTotal     ErrorMask = 8
	ErrorCancelled        ErrorMask = 16
	ErrorNoCanonical      ErrorMask = 32
	ErrorPredecessor      ErrorMask = 64
)

var errorNames = []string{
	"could not send", "too many error results", "too many success results",
	"too many total results", "cancelled", "no canonical result", "predecessor failed",
}

// Reasons lists the meanings of the bits, in the order of the bits. It is never nil.
func (m ErrorMask) Reasons() []string {
	out := []string{}
	for i, s := range errorNames {
		if m&(1<<i) != 0 {
			out = append(out, s)
		}
	}
	return out
}

func name(n int64, names map[int64]string) string {
	if s, ok := names[n]; ok {
		return s
	}
	return "state " + strconv.FormatInt(n, 10)
}
