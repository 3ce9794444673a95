package sysfault

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/starling-grid/starling/internal/words"
)

// Text returns the text of an error for people, for the place where it is shown in their language. It
// is the text of words.Explain or words.Refuse, or else Plain. Joined errors have a line each.
func Text(err error) words.Text {
	if text, ok := words.Explanation(err); ok {
		return text
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok { // the wrapping error is more complete
		var lines []words.Text
		for _, e := range joined.Unwrap() {
			lines = append(lines, Text(e))
		}
		if all := words.Join(lines, "\n"); all.String() == Plain(err) { // of errors.Join, not of fmt.Errorf
			return all
		}
	}
	return words.Plain(Plain(err))
}

// Plain returns the text of an error for people. It replaces the system's wording about files (open
// x: no such file or directory) and the network (dial tcp 192.0.2.1:80: connect: connection
// refused) with plain sentences, and leaves the rest unchanged. It is for the place where an error
// is shown to people. Logs keep the original error.
func Plain(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	each(err, func(e error, words string) { text = strings.Replace(text, e.Error(), words, 1) })
	return text
}

// each calls found for every error of the system in a tree of errors that inWords can describe.
func each(err error, found func(e error, words string)) {
	if words := inWords(err); words != "" {
		found(err, words)
		return
	}
	switch e := err.(type) { //nolint:errorlint // each error of the tree is looked at by itself
	case interface{ Unwrap() error }:
		if next := e.Unwrap(); next != nil {
			each(next, found)
		}
	case interface{ Unwrap() []error }:
		for _, next := range e.Unwrap() {
			each(next, found)
		}
	}
}

// inWords describes an error of the system about a file or an address, or the end of a context. It returns ""
// for other errors, and where it has no better words.
func inWords(err error) string {
	switch err { //nolint:errorlint // see each
	case context.Canceled:
		return "interrupted"
	case context.DeadlineExceeded:
		return "it took too long"
	}
	switch e := err.(type) { //nolint:errorlint // see each
	case *fs.PathError:
		if e.Op == "write" && errors.Is(err, fs.ErrNotExist) {
			return "the folder " + filepath.Dir(e.Path) + " does not exist"
		}
		if e.Op == "mkdir" && errors.Is(err, syscall.ENOTDIR) {
			return e.Path + " is not a folder"
		}
		return ofFile(e.Path, e.Err)
	case *os.LinkError:
		if errors.Is(err, fs.ErrNotExist) {
			return ofFile(e.Old, e.Err)
		}
		return ofFile(e.New, e.Err)
	case *net.OpError:
		return ofAddress(e)
	}
	return ""
}

func ofFile(name string, err error) string {
	switch {
	case DiskFull(err):
		return "no disk space is left for " + name
	case DiskFails(err):
		return "the disk with " + name + " is failing or takes no changes"
	case errors.Is(err, fs.ErrNotExist):
		return name + " does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "no permission to use " + name
	case errors.Is(err, fs.ErrExist):
		return name + " already exists"
	case errors.Is(err, syscall.ENOTDIR):
		return "a part of the path " + name + " is a file, not a folder"
	case errors.Is(err, syscall.EISDIR):
		return name + " is a folder"
	}
	return ""
}

func ofAddress(e *net.OpError) string {
	where := "the other side"
	if e.Addr != nil {
		where = e.Addr.String()
	}
	name, unknown := errors.AsType[*net.DNSError](e.Err)
	misspelt, bad := errors.AsType[*net.AddrError](e.Err)
	switch {
	case bad:
		return misspelt.Addr + ": " + misspelt.Err
	case e.Op == "listen" && errors.Is(e, fs.ErrPermission):
		return "no permission to listen at " + where
	case e.Op == "listen" && is(e, foreign):
		return where + " is not an address of this computer"
	case unknown && !name.IsTimeout:
		return "the name " + name.Name + " cannot be resolved"
	case Taken(e):
		return where + " is in use by another program"
	case Refused(e):
		return where + " refuses connections"
	case Unreachable(e):
		return "there is no network connection to " + where
	case Lost(e):
		return "the connection to " + where + " was lost"
	case e.Timeout():
		return where + " does not answer"
	}
	return ""
}
