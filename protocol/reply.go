package protocol

import "time"

// SchedulerVersion is the server version told to clients: 100·major + minor.
// Below 507 clients switch off host-specific preferences; 8.3 is the version of
// the server whose behaviour is followed.
const SchedulerVersion = 803

// A SchedulerReply is a scheduler's answer.
type SchedulerReply struct {
	SchedulerVersion int
	DontUseDCF       bool
	MasterURL        string // exactly the public one: a wrong value moves 8.x clients
	Ended            bool
	RequestDelay     time.Duration // no contact before that
	NextRPCDelay     time.Duration // contact at latest then; 0 none
	Messages         []Message
	Refusals         []Refusal   // why work was asked for in vain
	WorkEvents       *WorkEvents // nil: not offered
	ProjectName      string
	ProjectIsDown    bool

	User   *ReplyUser // nil: not told, for example because the key is unknown
	Host   *ReplyHost
	HostID int64 // only when a host record was just assigned; 0 otherwise

	GlobalPrefs  string // raw content
	ProjectPrefs string // raw content; sent in every reply that names a user

	ResultAcks               []string
	ResultAborts             []string
	ResultAbortsIfNotStarted []string

	Elements
	Encoded []string // elements already encoded, written after the others as they are

	CodeSignKey          string
	CodeSignKeySignature string

	MessageAck       bool
	TrickleDowns     []Trickle
	DeleteFiles      []string
	NoRscApps        []string // resources the project has no applications for
	SendFullWorkload bool
	GUIURLs          string // raw content
	Feeds            []Feed // of news, for volunteers to read

	NonCPUIntensive       bool
	StrictMemoryBound     bool
	VerifyFilesOnAppStart bool
}

// A Message is for people: low goes to the log, notice to their attention.
type Message struct {
	Priority string // "low" or "notice"
	Text     string
}

// The priorities a message may have.
const (
	PriorityLow    = "low"
	PriorityNotice = "notice"
)

// A Feed is news in RSS.
type Feed struct {
	URL  string
	Poll time.Duration // between looks
}

// A ReplyUser is the account as the server knows it.
type ReplyUser struct {
	ID             int64
	Name           string
	TotalCredit    float64
	ExpavgCredit   float64
	CreateTime     time.Time
	EmailHash      string
	CrossProjectID string
	ExternalCPID   string
	TeamID         int64 // 0: of no team
	TeamName       string
}

// A ReplyHost is the host record as the server knows it.
type ReplyHost struct {
	TotalCredit  float64
	ExpavgCredit float64
	CreateTime   time.Time
	Venue        *string // nil: unchanged; "" no venue
}
