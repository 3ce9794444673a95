// Package wire defines the API's requests and answers, for the server and for clients.
// server/api/openapi.json describes the same for programs.
package wire

import (
	"fmt"
	"time"
)

// A Token has the limits of a token, and the used amounts.
type Token struct {
	Name       string    `json:"name"`
	Apps       []string  `json:"apps"`           // empty: all
	Weight     float64   `json:"weight"`         // part of the computing time of an application, relative to other tokens
	Unfinished Limit     `json:"unfinished"`     // workunits
	Bytes      Limit     `json:"bytes"`          // input files of unfinished workunits, uploaded files, and output that is not retired
	CPUHours   Limit     `json:"cpu_hours"`      // of the finished jobs of the last 30 days
	Held       string    `json:"held,omitempty"` // why waiting jobs are not sent at present
	Until      time.Time `json:"held_until,omitzero"`
}

// A Limit is a used amount, and the maximum.
type Limit struct {
	Used    float64  `json:"used"`
	Allowed *float64 `json:"allowed,omitempty"` // absent: unlimited
}

// A Submission asks for a batch.
type Submission struct {
	Name        string     `json:"name"` // chosen by the sender, who gets the same batch for the same name
	App         string     `json:"app"`
	Priority    int64      `json:"priority,omitempty"`     // among the jobs of the token, from -10 to 10
	Quorum      int        `json:"quorum,omitempty"`       // results that have to agree (0: set by the application)
	Targets     int        `json:"targets,omitempty"`      // results sent at first (0: as many as the quorum)
	DelayBound  float64    `json:"delay_bound,omitempty"`  // seconds for a computer to return a result
	FpopsEst    float64    `json:"fpops_est,omitempty"`    // floating-point operations that one takes, estimated
	FpopsBound  float64    `json:"fpops_bound,omitempty"`  // operations after which one is aborted
	MemoryBound float64    `json:"memory_bound,omitempty"` // bytes
	DiskBound   float64    `json:"disk_bound,omitempty"`   // bytes
	Webhook     string     `json:"webhook,omitempty"`      // URL that is notified when the batch is done
	Workunits   []Workunit `json:"workunits"`
}

// A Workunit is one of a Submission.
type Workunit struct {
	Name        string  `json:"name,omitempty"` // within the batch ("": its index, from 0)
	CommandLine string  `json:"command_line,omitempty"`
	Priority    *int64  `json:"priority,omitempty"`  // instead of the batch's
	FpopsEst    float64 `json:"fpops_est,omitempty"` // instead of the batch's
	Inputs      []Input `json:"inputs,omitempty"`

	// After are the names of workunits that must succeed first. They are listed before this one.
	After []string `json:"after,omitempty"`
}

// An Input is a file, by its content, Text or Base64, by where it is, URL, by the name of one
// that the project has, Staged, or by the workunit that makes it, OutputOf.
type Input struct {
	Name   string  `json:"name"` // logical, as in the application's template
	Text   *string `json:"text,omitempty"`
	Base64 *string `json:"base64,omitempty"`

	URL    string `json:"url,omitempty"`    // computers fetch it from there, or with Copy the project does
	Copy   bool   `json:"copy,omitempty"`   // the project fetches it now, and computers from the project
	NBytes int64  `json:"nbytes,omitempty"` // size, required with URL (with Copy 0 means unknown)
	MD5    string `json:"md5,omitempty"`    // 32 hex digits, required with URL (with Copy "" means unknown)

	Staged string `json:"staged,omitempty"` // a file that was uploaded or that the operator has staged

	OutputOf string `json:"output_of,omitempty"` // name of a workunit that is listed before this one
	File     string `json:"file,omitempty"`      // its output file ("": its only one)
}

// A Batch has the progress of a batch.
type Batch struct {
	ID         int64            `json:"id"`
	Name       string           `json:"name"`
	Created    time.Time        `json:"create_time"`
	Workunits  int              `json:"workunits"`
	Unfinished int64            `json:"unfinished"`
	Succeeded  int64            `json:"succeeded"` // with an output that can be fetched, or soon
	Failed     int64            `json:"failed"`    // given up
	Fetchable  int64            `json:"fetchable"` // of both, whose outcome is there
	Fraction   float64          `json:"fraction_done"`
	Done       bool             `json:"done"`              // every workunit's outcome is there
	Expired    bool             `json:"expired,omitempty"` // the project no longer has some workunits: it clears away those that were done long ago
	Retired    bool             `json:"retired,omitempty"` // its sender had its output deleted
	Held       string           `json:"held,omitempty"`    // why its waiting jobs are not sent at present
	Results    map[string]int64 `json:"results"`           // by server state
}

// Missing returns the refusal of output of which a part is gone, or nil.
func (b *Batch) Missing() *Fault {
	switch {
	case b.Retired:
		return &Fault{
			Text: fmt.Sprintf("the output of the batch %q was deleted, because the batch was retired", b.Name),
			Cure: "to compute it again, submit it under another name",
		}
	case b.Expired:
		return &Fault{
			Text: fmt.Sprintf("the project no longer lists all jobs of the batch %q, of which it removes those that were done long ago", b.Name),
			Cure: "the files of listed jobs can be fetched; ask the project's operator for the others",
		}
	}
	return nil
}

// Batches is a list of a token's batches.
type Batches struct {
	Batches []Batch `json:"batches"`
}

// An Estimate has the remaining computation of a batch, existing or only described, and the time
// when it will be done.
type Estimate struct {
	Workunits   int64   `json:"workunits"`              // without an outcome
	Results     int64   `json:"results,omitempty"`      // sent at first (of a described batch)
	Flops       float64 `json:"flops"`                  // floating-point operations of all results
	InputBytes  int64   `json:"input_bytes,omitempty"`  // of one that was described, as far as its sizes are known
	OutputBytes int64   `json:"output_bytes,omitempty"` // maximum (of a described batch)

	Computers int       `json:"computers"`         // that can compute it and were active in the last week
	Rate      float64   `json:"flops_per_second"`  // of all of these
	Basis     string    `json:"basis"`             // see docs/api.md
	Wait      float64   `json:"wait,omitempty"`    // seconds until the work ahead is sent
	Seconds   *float64  `json:"seconds,omitempty"` // until it is done (absent: unknown)
	End       time.Time `json:"end_time,omitzero"` // likewise
	Text      string    `json:"text"`              // all of this in a sentence
}

// Outcomes has the outcomes of a part of a batch's workunits.
type Outcomes struct {
	Workunits []Outcome `json:"workunits"`
	Next      int64     `json:"next,omitempty"` // value of after for the next request (0: these are the last)
}

// An Outcome is the outcome of a workunit.
type Outcome struct {
	Name   string   `json:"name"`
	State  string   `json:"state"`            // unfinished, canonical or error
	Errors []string `json:"errors,omitempty"` // why it was given up
	Credit float64  `json:"credit"`
	Files  []File   `json:"files,omitempty"` // its output, once it is there

	Failure *Failure `json:"failure,omitempty"` // of a workunit that was given up, if a computer reported one
}

// A Failure is the last failed attempt at a workunit.
type Failure struct {
	ExitStatus int64  `json:"exit_status"`
	Stderr     string `json:"stderr,omitempty"` // the end of the program's standard error
}

// A File is one of an outcome.
type File struct {
	Name string `json:"name"` // may hold slashes
	Size int64  `json:"size"` // bytes
}

// Cancelled is the outcome of giving a batch up.
type Cancelled struct {
	Cancelled int `json:"cancelled"` // workunits
}

// Retired is the outcome of deleting a batch's output.
type Retired struct {
	Deleted int `json:"deleted"` // workunits whose output was there
}

// A Fault is why a request was refused.
type Fault struct {
	Text     string `json:"error"`
	Cure     string `json:"cure,omitempty"`
	Workunit *int   `json:"workunit,omitempty"` // place of the one that is wrong
}

// Error implements error.
func (f *Fault) Error() string {
	if f.Cure == "" {
		return f.Text
	}
	return f.Text + ": " + f.Cure
}
