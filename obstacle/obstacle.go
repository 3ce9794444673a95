// Package obstacle explains why, for now, a file cannot be transferred or a task cannot be started:
// one cause, one sentence, one cure. Obstacles to all contact with a project are in package
// contact, and final failures of tasks in package workfetch.
//
// It does not classify errors: the agent turns them into codes.
package obstacle

import (
	"fmt"
	"strings"

	"github.com/starling-grid/starling/contact"
)

// A Code identifies an obstacle. The codes are in the state on disk and in JSON, so existing ones
// must not change. They include the codes of package contact for obstacles between this computer
// and a server.
type Code string

// The obstacles. The first group is in this computer. The second is in the file or task, or in the
// server that was asked for it.
const (
	DiskFull       Code = "disk_full"
	DiskFails      Code = "disk_error"
	NotAllowed     Code = "files_not_accessible"
	NoProcess      Code = "no_room_for_processes"
	FileGone       Code = "file_gone"
	StartFails     Code = "start_failed"
	NoImages       Code = "images_unavailable"
	ImageTooLarge  Code = "image_too_large"
	NoAddress      Code = "no_address"
	NotOnServer    Code = "not_on_server"
	NoUploads      Code = "upload_address_wrong"
	Differs        Code = "differs_from_announced"
	NotSigned      Code = "no_valid_signature"
	Stalled        Code = "stalled"
	Refused        Code = "refused_by_server"
	Canceled       Code = "canceled"
	TransferFails  Code = "transfer_failed"
	ApplicationAsk Code = "application_waits"
)

// An Obstacle is the obstacle to a file or a task. The zero value means that there is none.
type Obstacle struct {
	Code Code `json:"code,omitempty"`
	// About is the host, the HTTP status or another program's message that the sentence names.
	About string `json:"about,omitempty"`
}

// A Message is the text for people about an obstacle: one sentence, in which %s is replaced by
// About, and the remedy.
type Message struct {
	Code    Code
	Cause   string
	Unnamed string // the sentence when About is not known ("": it names nothing)
	Cure    string // "": nothing needs to be done
}

const (
	again = "The agent will try again."
	wait  = "Wait: the agent will try again."
)

// Messages is the complete list of obstacles, except those in package contact.
var Messages = []Message{
	{DiskFull, "This computer's disk is full.", "", "Free some disk space. " + again},
	{DiskFails, "This computer's disk reports an error.", "", "Check the disk: the system's log names the error (on Linux: sudo dmesg). " + again},
	{NotAllowed, "The agent may not read or write its own files.", "", "Run starling doctor: it names the folder. Make the agent's user its owner, and check that it is neither mounted read-only nor immutable (on Linux: lsattr -d). " + again},
	{NoProcess, "The system has no room for another process.", "", "End other programs, or raise the limit on processes. " + again},
	{FileGone, "The file is no longer on this computer.", "", "Find out what removes files from the data directory, such as a virus scanner or a clean-up program, and exempt the directory."},
	{NoImages, "Container images cannot run on this computer now.", "", "Find the reason with: starling doctor. " + again},
	{ImageTooLarge, "The task's container image needs %s of disk space, more than the preferences allow now.", "The task's container image needs more disk space than the preferences allow now.", "Free some disk space, or allow more in the preferences. " + again},
	{StartFails, "The task could not be started.", "", "Run starling doctor, and see starling log for the error. " + again},

	{NoAddress, "The project gave no address for the file.", "", "The project's operators must fix this."},
	{NotOnServer, "The file is not on the project's server (%s).", "The file is not on the project's server.", "The project's operators must fix this."},
	{NoUploads, "The address to upload to leads nowhere (%s).", "The address to upload to leads nowhere.", "If it lasts for days, inform the project. " + again},
	{Differs, "What arrived differs from what the project announced.", "", "If a proxy or a virus scanner changes downloads, exempt the project's server. Otherwise the project's operators must fix this."},
	{NotSigned, "The program has no valid signature of the project, so it is not used.", "", "Keep it so: only programs signed by the project are run. Inform the project."},
	{Stalled, "The transfer stalled: hardly any data moved for 5 minutes.", "", wait},
	{Refused, "The project's server did not take the file. It says: %s", "The project's server did not take the file.", "If it lasts for days, inform the project. " + again},
	{Canceled, "You canceled the transfer.", "", "Nothing is wrong with this computer."},
	{TransferFails, "The transfer failed.", "", wait},

	{ApplicationAsk, "The application asked to be continued later: %s", "The application asked to be continued later.", ""},
}

// OfTrouble returns the obstacle to a file that results from trouble with a server.
func OfTrouble(t contact.Trouble) Obstacle {
	switch t.Code {
	case contact.UnknownTrouble:
		return Obstacle{Code: TransferFails}
	case contact.NotFound, contact.Closed:
		return Obstacle{NotOnServer, t.About}
	}
	return Obstacle{Code(t.Code), t.About}
}

// Is reports whether there is one.
func (o Obstacle) Is() bool { return o.Code != "" }

// message returns the text for a code, or false for a code of package contact.
func (o Obstacle) message() (Message, bool) {
	for _, s := range Messages {
		if s.Code == o.Code {
			return s, true
		}
	}
	return Message{}, false
}

// trouble returns the obstacle as trouble with a server.
func (o Obstacle) trouble() contact.Trouble {
	return contact.Trouble{Code: contact.TroubleCode(o.Code), About: o.About}
}

// Cause returns a sentence about the obstacle, or "".
func (o Obstacle) Cause() string {
	s, own := o.message()
	switch {
	case !o.Is():
		return ""
	case !own:
		return o.trouble().Cause()
	case !strings.Contains(s.Cause, "%s"):
		return s.Cause
	case o.About == "":
		return s.Unnamed
	}
	text := fmt.Sprintf(s.Cause, o.About)
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// Cure returns the remedy, or "" if nothing needs to be done.
func (o Obstacle) Cure() string {
	s, own := o.message()
	switch {
	case !o.Is():
		return ""
	case !own:
		return o.trouble().Remedy()
	}
	return s.Cure
}
