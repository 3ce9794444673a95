// Package upload is BOINC's file upload handler: it receives the output files of finished results.
//
// To upload a file, a client presents a certificate, which contains the file's name and largest
// size, and which only the project can make (Certifier). Nothing of a body is stored before the
// certificate has been checked. Data may arrive in pieces. The file appears only when it is whole,
// matches its checksum and is safe on disk, and only then does the client get the answer that it
// may delete its copy.
//
// The package uses no database: a certificate is enough.
package upload

import (
	"bufio"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/limit"
)

const (
	// drain bounds how much of a body is read only to be thrown away, so that a
	// client that still sends gets to read the answer.
	drain = 64 << 20
	// commitTime bounds how long a file that has come may take to its place, which may
	// be a service elsewhere.
	commitTime = time.Hour
)

// Bound limits the part of a request's body that is read. Without a valid certificate the body is
// discarded.
var Bound = limit.Bound{Stranger: drain, Most: limit.Unbounded, Kept: limit.Final}

// A Handler answers POST requests to file_upload_handler.
type Handler struct {
	Files     Files
	Certifier *Certifier
	Log       *slog.Logger
}

// Files is a tree of files.
type Files interface {
	Size(ctx context.Context, name string) (int64, error)
	blob.Parts
}

// refuse is permanent: the client gives the file up.
func refuse(format string, args ...any) protocol.UploadReply {
	return protocol.UploadReply{Status: protocol.UploadPermanent, Message: fmt.Sprintf(format, args...)}
}

// later is transient: the client tries again.
func later(format string, args ...any) protocol.UploadReply {
	return protocol.UploadReply{Status: protocol.UploadTransient, Message: fmt.Sprintf(format, args...)}
}

// internalError handles an error of the server: the volunteer's answer has a general message, and the log
// has the details for the operator.
func (h *Handler) internalError(name, what string, err error) protocol.UploadReply {
	h.Log.Error("upload failed", "file", name, "what", what, "err", err)
	return later("%s: the server has a disk problem", what)
}

// ServeHTTP answers one request. Errors are reported in the body with HTTP status 200, as in BOINC.
// The declared content type is ignored: old clients declare the body as form data, which it is not.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := bufio.NewReaderSize(r.Body, 32<<10)
	req, err := protocol.ReadUploadRequest(body)
	var reply protocol.UploadReply
	switch {
	case err != nil:
		reply = refuse("%v", err)
	case req.SizeQuery:
		reply = h.size(r.Context(), req.Name)
	default:
		reply = h.receive(r.Context(), req, body)
	}
	if reply.Status != protocol.UploadOK {
		h.Log.Info("upload refused", "file", req.Name, "status", reply.Status, "reason", reply.Message)
	}
	_, _ = io.CopyN(io.Discard, body, drain)
	w.Header().Set("Content-Type", "text/plain")
	_, _ = w.Write(reply.Encode())
}

// size answers how much of a file is here. The last byte of a part does not count: the client would
// not send a file that has arrived whole, and it is stored in its place only after a request with
// its data. A crash or a full disk may have prevented that.
func (h *Handler) size(ctx context.Context, name string) protocol.UploadReply {
	if err := protocol.ValidFileName(name); err != nil {
		return refuse("%v", err)
	}
	n, err := h.Files.Size(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		n, err = h.Files.PartSize(name)
		n = max(n-1, 0)
	}
	if err != nil {
		return h.internalError(name, "can't look at file", err)
	}
	return protocol.UploadReply{HasSize: true, FileSize: n}
}

// check decides whether a request may store anything. It returns a reply only
// if not.
func check(req protocol.UploadRequest, c *Certifier) *protocol.UploadReply {
	reply := func(r protocol.UploadReply) *protocol.UploadReply { return &r }
	switch err := protocol.ValidFileName(req.Name); {
	case err != nil:
		return reply(refuse("%v", err))
	case strings.TrimSpace(req.XMLSignature) == "":
		return reply(refuse("missing signature"))
	case !c.Valid(req.Name, req.MaxNBytes, req.XMLSignature):
		return reply(refuse("invalid signature"))
	case req.NBytes > req.MaxNBytes:
		return reply(refuse("file size (%d bytes) exceeds limit (%d bytes)", req.NBytes, req.MaxNBytes))
	}
	return nil
}

// receive stores data from the request's offset on. The first whole file under a name stays. Later
// data for the name is read and discarded, since the file may have been compared or assimilated by
// then.
func (h *Handler) receive(ctx context.Context, req protocol.UploadRequest, body io.Reader) protocol.UploadReply {
	if bad := check(req, h.Certifier); bad != nil {
		return *bad
	}
	release, err := h.Files.LockPart(req.Name)
	switch {
	case errors.Is(err, blob.ErrLocked):
		return later("file is being uploaded on another connection")
	case err != nil:
		return h.internalError(req.Name, "can't lock file", err)
	}
	defer release()
	switch _, err := h.Files.Size(ctx, req.Name); {
	case err == nil:
		return protocol.UploadReply{}
	case !errors.Is(err, fs.ErrNotExist):
		return h.internalError(req.Name, "can't look at file", err)
	}
	f, err := h.Files.OpenPart(req.Name)
	if err != nil {
		return h.internalError(req.Name, "can't open file", err)
	}
	defer f.Close()
	switch err := store(f, req, body); {
	case errors.Is(err, errChecksum):
		// Upstream does not check the checksum. Here a file that was damaged in transit starts
		// again, since the client still has the good one.
		_ = f.Close()
		if err := h.Files.RemovePart(req.Name); err != nil {
			return h.internalError(req.Name, "can't remove damaged file", err)
		}
		return later("checksum of the uploaded file doesn't match")
	case err != nil:
		if _, ours := errors.AsType[*fs.PathError](err); ours {
			return h.internalError(req.Name, "can't store file", err)
		}
		return later("%v", err)
	}
	// The file has arrived, and the client may disconnect before it is moved to its place.
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
	defer done()
	if err := h.Files.CommitPart(ctx, req.Name); err != nil {
		return h.internalError(req.Name, "can't store file", err)
	}
	return protocol.UploadReply{}
}

var errChecksum = errors.New("checksum mismatch")

// store writes the body's data at the request's offset and, when all are there,
// checks the whole and closes it, synced.
func store(f blob.Part, req protocol.UploadRequest, body io.Reader) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("can't look at file: %w", err)
	}
	if size < req.Offset {
		return fmt.Errorf("length of file %d bytes, expected at least %d", size, req.Offset)
	}
	offset := min(req.Offset, req.NBytes)
	if err := f.Truncate(offset); err != nil {
		return fmt.Errorf("can't write file: %w", err)
	}
	sum := md5.New()
	if _, err := io.CopyN(sum, f, offset); err != nil { // leaves f at offset
		return fmt.Errorf("can't read file: %w", err)
	}
	want := req.NBytes - offset
	got, err := io.CopyN(io.MultiWriter(f, sum), body, want)
	if got < want {
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("EOF on socket read : asked for %d, got %d", want, got)
		}
		return fmt.Errorf("asked for %d bytes, got %d: %w", want, got, err)
	}
	if req.MD5 != "" && !strings.EqualFold(hex.EncodeToString(sum.Sum(nil)), req.MD5) {
		return errChecksum
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("can't write file: %w", err)
	}
	return f.Close()
}
