package protocol

import "time"

// SchedulerVersion is the server version that clients receive: 100·major + minor. With a version
// below 507, clients switch off host-specific preferences. 8.3 is the version of the server whose
// behavior this one follows.
const SchedulerVersion = 803

// A SchedulerReply is the reply of a scheduler.
type SchedulerReply struct {
	Date             time.Time // the server's time when it answered, by the header of HTTP (zero: not named)
	SchedulerVersion int
	DontUseDCF       bool
	MasterURL        string // exactly the public one: a wrong value makes 8.x clients move to it
	Ended            bool
	RequestDelay     time.Duration // minimum time until the next contact
	NextRPCDelay     time.Duration // maximum time until the next contact, or 0 for none
	Messages         []Message
	Refusals         []Refusal   // why a request for work brought none
	WorkEvents       *WorkEvents // nil if not offered
	TakesEnergy      bool        // reports may contain EnergyWh. It is Starling's own element, <starling_takes_energy/>
	ProjectName      string
	ProjectIsDown    bool

	User   *ReplyUser // nil if not sent, for example because the key is unknown
	Host   *ReplyHost
	HostID int64 // only when a host record was just created, otherwise 0

	GlobalPrefs  string // raw content
	ProjectPrefs string // raw content, sent in every reply that names a user

	ResultAcks               []string
	ResultAborts             []string
	ResultAbortsIfNotStarted []string

	Elements

	CodeSignKey          string
	CodeSignKeySignature string

	MessageAck   bool
	TrickleDowns []Trickle
	DeleteFiles  []string
	NoRscApps    []string // resources that none of the project's applications use
	GUIURLs      string   // raw content
	Feeds        []Feed   // news for volunteers

	NonCPUIntensive   bool
	StrictMemoryBound bool
}

// A Message is for people: one of low priority is written to the log, and a notice is shown to
// them.
type Message struct {
	Priority string // "low" or "notice"
	Text     string
}

// The priorities a message may have.
const (
	PriorityLow    = "low"
	PriorityNotice = "notice"
)

// A Feed is a news feed in RSS.
type Feed struct {
	URL  string
	Poll time.Duration // time between two readings
}

// A ReplyUser is the server's record of the account.
type ReplyUser struct {
	ID             int64
	Name           string
	TotalCredit    float64
	ExpavgCredit   float64
	CreateTime     time.Time
	EmailHash      string
	CrossProjectID string
	ExternalCPID   string
	TeamID         int64 // 0 without a team
	TeamName       string
}

// A ReplyHost is the server's record of the host.
type ReplyHost struct {
	TotalCredit  float64
	ExpavgCredit float64
	CreateTime   time.Time
	Venue        *string // nil if unchanged, or "" for none
}
