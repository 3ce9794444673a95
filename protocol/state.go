package protocol

import "strconv"

// A ClientState is the state that a result has reached on its host.
type ClientState int32

// The numbers are BOINC's and are used on disk and on the wire.
const (
	ClientNew             ClientState = 0
	ClientDownloading     ClientState = 1
	ClientDownloaded      ClientState = 2
	ClientComputeError    ClientState = 3
	ClientUploading       ClientState = 4
	ClientUploaded        ClientState = 5
	ClientAborted         ClientState = 6
	ClientUploadFailed    ClientState = 7
	clientStateUnknownMax             = 8
)

var clientStateNames = [clientStateUnknownMax]string{
	"new", "downloading", "downloaded", "compute error", "uploading", "uploaded", "aborted", "upload failed",
}

func (s ClientState) String() string {
	if s < 0 || s >= clientStateUnknownMax {
		return "state " + strconv.Itoa(int(s))
	}
	return clientStateNames[s]
}

// Exit statuses that a client reports for ends that the application did not choose.
const (
	ExitSignal           = 193
	ExitAbortedByClient  = 194
	ExitDiskLimit        = 196
	ExitTimeLimit        = 197
	ExitMemoryLimit      = 198
	ExitUnstartedLate    = 200
	ExitAbortedByProject = 202
	ExitAbortedByUser    = 203
	ExitStartFailed      = -185
	ExitDownloadFailed   = -186
	ExitUploadFailed     = -187
	ExitTooManyExits     = -226
)

// Error numbers of BOINC's library that reach users in messages and replies.
const (
	ErrNumMD5           = -119
	ErrNumSignature     = -120
	ErrNumNoSignature   = -123
	ErrNumFileTooBig    = -131
	ErrNumNotFound      = -136
	ErrNumNotUnique     = -137
	ErrNumAuthenticator = -155
	ErrNumFileMissing   = -161
	ErrNumProjectDown   = -183
	ErrNumBadUserName   = -188
	ErrNumWrongSize     = -200
	ErrNumBadEmail      = -205
	ErrNumBadPassword   = -206
	ErrNumNoCreation    = -208
	ErrNumPermanentHTTP = -224
)
