package protocol

import "time"

// A FileInfo describes one file of a project: where it comes from or goes to,
// and how to know that it is whole.
type FileInfo struct {
	Name          string // physical name, unique in the project and never reused
	DownloadURLs  []string
	UploadURLs    []string
	GzippedURLs   []string // replace DownloadURLs when present; content is gzip
	NBytes        int64    // exact size, uncompressed; 0: unknown
	GzippedNBytes int64
	MD5           string // lower-case hex of the uncompressed content; "" if unknown
	Executable    bool
	Signature     string // code signature text; required of application files
	MaxNBytes     int64  // largest size an output file may have
	XMLSignature  string // upload certificate text, returned verbatim

	GeneratedLocally bool
	Sticky           bool
	StickyLifetime   time.Duration
	GzipWhenDone     bool
	NoDelete         bool

	Status   int    // in requests: 1 present, negative an error number
	ErrorMsg string // in requests: why a transfer was given up
	Uploaded bool   // in client_state.xml: an output that the server has
	// StickyUntil is, in client_state.xml, when a sticky file is no longer one; zero: it stays one.
	StickyUntil time.Time
}

// A FileRef is the use of a file by an app version, workunit or result.
type FileRef struct {
	FileName    string // physical
	OpenName    string // logical; empty means the physical name
	MainProgram bool
	CopyFile    bool // copied into the slot rather than linked
	Optional    bool // an output that may be absent
	NoValidate  bool // server only: left out of comparison
}

// Logical returns the name by which the application opens the file.
func (r FileRef) Logical() string {
	if r.OpenName == "" {
		return r.FileName
	}
	return r.OpenName
}
