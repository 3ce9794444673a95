package blob

import (
	"context"
	"io"
	"time"
)

// A Tree stores files: a Dir, or a Bucket. It is safe for concurrent use, and several may be open
// on the same files. Names that are not file names give protocol.ErrFileName, files that do not
// exist fs.ErrNotExist.
//
// A context limits the time for an answer of a remote service. When it ends, the call returns its
// error. Operations on this machine's own disk ignore it. Code that needs only some of the methods
// should declare an interface with those.
type Tree interface {
	Reader
	Writer
	Lender
	Parts

	// Walk calls fn for every file, whole or in part, with its name and the time of its last
	// change, in no particular order. fn may not remove files. An error of fn ends the walk and is
	// returned. Files that appear or disappear meanwhile may be missed.
	Walk(ctx context.Context, fn func(name string, modified time.Time) error) error
	// Close closes the tree. Its files stay.
	Close() error
}

// A Reader opens files and returns their sizes and checksums.
type Reader interface {
	// Open opens a file for reading, which ctx bounds too.
	Open(ctx context.Context, name string) (*File, error)
	// Size returns a file's size, bytes.
	Size(ctx context.Context, name string) (int64, error)
	// Sum returns a file's size and checksum.
	Sum(ctx context.Context, name string) (Info, error)
}

// A Writer takes files and deletes them.
type Writer interface {
	// Put stores the data that r yields. When it returns, the file is durable. If the name is taken
	// by the same content, that is not an error. Other content gives ErrDifferent.
	Put(ctx context.Context, name string, r io.Reader) (Info, error)
	// Remove deletes a file and the part of it that has arrived so far. A file that does not exist
	// is not an error.
	Remove(ctx context.Context, name string) error
}

// A Lender makes files available to code that needs paths.
type Lender interface {
	// CopyTo makes a file's content available at the path to, outside of the tree, and replaces a
	// file there. The content is durable when CopyTo returns, its name once the folder is synced.
	// The copy must not be changed in place: it may be the file.
	CopyTo(ctx context.Context, name, to string) error
	// Locate returns the path of a file, for programs that read it. It is good for
	// as long as the file is there, but at least an hour.
	Locate(ctx context.Context, name string) (string, error)
}

// Parts are the parts of incomplete files that have arrived. They are stored on this machine.
type Parts interface {
	// LockPart keeps all others, in this process and in others that share the folder, from changing a part until
	// release is called. It returns ErrLocked if another one has it.
	LockPart(name string) (release func(), err error)
	// OpenPart opens the part of a file that has arrived for reading and writing, empty if nothing
	// has.
	OpenPart(name string) (Part, error)
	// PartSize returns the number of bytes that have arrived, 0 if none have.
	PartSize(name string) (int64, error)
	// CommitPart makes a part, which its caller has synced and closed, the file of
	// that name. The file is durable when it returns.
	CommitPart(ctx context.Context, name string) error
	// RemovePart deletes the part that has arrived.
	RemovePart(name string) error
}

// A Part is an open part.
type Part interface {
	io.ReadWriteSeeker
	io.Closer
	Truncate(n int64) error
	Sync() error
}

// A File is an open file, which its user closes.
type File struct {
	io.ReadSeekCloser
	NBytes   int64
	Modified time.Time
}
