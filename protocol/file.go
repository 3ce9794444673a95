package protocol

import "time"

// A FileInfo describes one file of a project: its addresses, and the size, checksum and signature
// by which it is verified.
type FileInfo struct {
	Name          string // physical name, unique in the project and never reused
	DownloadURLs  []string
	UploadURLs    []string
	GzippedURLs   []string // used instead of DownloadURLs if present, with content compressed by gzip
	NBytes        int64    // exact size, uncompressed, or 0 if unknown
	GzippedNBytes int64
	MD5           string // lower-case hex of the uncompressed content, or "" if unknown
	Executable    bool
	Signature     string // code signature text, required of application files
	MaxNBytes     int64  // maximum size of an output file
	XMLSignature  string // upload certificate text, returned verbatim

	GeneratedLocally bool
	Sticky           bool
	StickyLifetime   time.Duration
	GzipWhenDone     bool
	NoDelete         bool

	Status   int    // in requests: 1 if present, or a negative error number
	ErrorMsg string // in requests: why a transfer was given up
	Uploaded bool   // in client_state.xml: the server has this output
	// StickyUntil is, in client_state.xml, the time until which a file is sticky. Zero means
	// forever.
	StickyUntil time.Time
}

// A FileRef is the use of a file by an app version, workunit or result.
type FileRef struct {
	FileName    string // physical
	OpenName    string // logical, or empty if it is the physical name
	MainProgram bool
	CopyFile    bool // copied into the slot rather than linked
	Optional    bool // an output that may be absent
	NoValidate  bool // server only: left out of comparison
}

// Logical returns the name under which the application opens the file.
func (r FileRef) Logical() string {
	if r.OpenName == "" {
		return r.FileName
	}
	return r.OpenName
}
