package protocol

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/starling-grid/starling/protocol/bxml"
)

// An UploadRequest is the head of a POST to a file upload handler. It either asks how much of a
// file has arrived, or announces a file's data from Offset on.
type UploadRequest struct {
	Client       Version
	SizeQuery    bool
	Name         string
	XMLSignature string // the upload certificate
	MaxNBytes    int64  // as certified
	NBytes       int64  // of the whole file
	Offset       int64  // position of the data that follow
	MD5          string // of the whole file, or "" if not sent
}

// Status values of an upload reply.
const (
	UploadOK        = 0
	UploadTransient = 1
	UploadPermanent = -1
)

// An UploadReply is the reply of a file upload handler.
type UploadReply struct {
	Status   int
	Message  string
	HasSize  bool // FileSize answers a size query
	FileSize int64
}

// maxUploadHead is the maximum length, in bytes, of the head before an upload's data.
const maxUploadHead = 16 << 10

// ErrUploadHead means that a body is not an upload request.
var ErrUploadHead = errors.New("not an upload request")

// Encode returns the request's head. If the request has data, exactly NBytes-Offset bytes of the
// file must follow the head.
func (r UploadRequest) Encode() []byte {
	var w bxml.Writer
	w.Open("data_server_request")
	r.Client.Write(&w)
	if r.SizeQuery {
		w.Text("get_file_size", r.Name)
		w.Close("data_server_request")
		return w.Bytes()
	}
	w.Open("file_upload")
	w.Open("file_info")
	w.Text("name", r.Name)
	w.Raw("<xml_signature>\n" + strings.TrimSpace(r.XMLSignature) + "</xml_signature>")
	w.Int("max_nbytes", r.MaxNBytes)
	w.Close("file_info")
	w.Int("nbytes", r.NBytes)
	w.TextIf("md5_cksum", r.MD5)
	w.Int("offset", r.Offset)
	w.Open("data")
	return w.Bytes()
}

// ReadUploadRequest reads a request's head and leaves body at the first byte of the data. It reads
// line by line, because the format is defined by lines, and at most 16 KiB.
func ReadUploadRequest(body *bufio.Reader) (UploadRequest, error) {
	var head []byte
	data := false
	for !data {
		line, err := body.ReadSlice('\n')
		if len(head)+len(line) > maxUploadHead {
			return UploadRequest{}, fmt.Errorf("%w: head longer than %d bytes", ErrUploadHead, maxUploadHead)
		}
		head = append(head, line...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(head) == 0:
			return UploadRequest{}, fmt.Errorf("%w: empty body", ErrUploadHead)
		}
		data = bytes.Equal(bytes.TrimSpace(line), []byte("<data>"))
		if err != nil {
			break
		}
	}
	return parseUploadHead(head, data)
}

func parseUploadHead(head []byte, data bool) (UploadRequest, error) {
	var r UploadRequest
	s := bxml.NewScanner(head)
	if err := s.Find("data_server_request"); err != nil {
		return r, fmt.Errorf("%w: %w", ErrUploadHead, err)
	}
	// The format is flat: nesting is meaningless, and elements opened before the data are never
	// closed.
	for name := range s.Children() {
		switch name {
		case "core_client_major_version", "core_client_minor_version", "core_client_release":
			r.Client.fields(s.Child())
		case "get_file_size":
			r.SizeQuery, r.Name = true, s.Head(maxLong)
		case "name":
			r.Name = s.Head(maxLong)
		case "xml_signature":
			r.XMLSignature = s.Raw()
		case "max_nbytes":
			scanBytes(s, &r.MaxNBytes)
		case "nbytes":
			scanBytes(s, &r.NBytes)
		case "offset":
			scanBytes(s, &r.Offset)
		case "md5_cksum":
			r.MD5 = s.Head(maxText)
		default:
			s.Enter()
		}
	}
	switch {
	case r.Name == "":
		return r, fmt.Errorf("%w: no file name", ErrUploadHead)
	case !r.SizeQuery && !data:
		return r, fmt.Errorf("%w: no <data>", ErrUploadHead)
	}
	return r, nil
}

// Encode returns the reply's body. It is short, because clients read it into the buffer of their
// request.
func (r UploadReply) Encode() []byte {
	var w bxml.Writer
	w.Open("data_server_reply")
	w.Int("status", int64(r.Status))
	w.TextIf("message", r.Message[:min(len(r.Message), maxName)])
	if r.HasSize {
		w.Int("file_size", r.FileSize)
	}
	w.Close("data_server_reply")
	return w.Bytes()
}

// ParseUploadReply reads a handler's reply. A reply without a status, such as an error page sent
// with HTTP 200, is an error that clients treat as transient.
func ParseUploadReply(b []byte) (UploadReply, error) {
	var r UploadReply
	r.Status = math.MinInt32
	err := bxml.NewScanner(b).Foreign().Decode("data_server_reply", func(x bxml.Codec) {
		integer(x, "status", &r.Status)
		x.Text("message", &r.Message)
		size(x, "file_size", &r.FileSize)
		r.HasSize = r.HasSize || x.Reading("file_size") != nil
	})
	if err != nil {
		return UploadReply{}, fmt.Errorf("upload reply: %w", err)
	}
	if r.Status == math.MinInt32 {
		return UploadReply{}, errors.New("upload reply: no status in it")
	}
	return r, nil
}
