package filexfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/protocol"
)

// An Upload is one output file to be sent.
type Upload struct {
	Dir       *os.Root // the project's folder
	Name      string
	URLs      []string
	Signature string // the upload certificate, verbatim
	MaxNBytes int64
	MD5       string
	Retry     bool // some of it may have arrived in an earlier attempt
}

// askSize is the size from which on the server is asked first how much it has.
//
// Source: BOINC client/file_xfer.cpp.
const askSize = 8192

// maxReply bounds a data server's answer.
const maxReply = 64 << 10

// A RefusedError is a data server's answer that it does not take a file.
type RefusedError struct{ Message string } // in the server's words ("": it gave none)

func (e *RefusedError) Error() string {
	return "rejected by the file upload server: " + e.Message
}

// Upload sends a file, or the part of it that the server does not have yet, to
// the first URL that takes it. progress, which may be nil, is called with the
// bytes of each read, from any goroutine, and perhaps a last time just after
// Upload has returned. The error is an *Error.
func (c *Client) Upload(ctx context.Context, u Upload, progress func(n int64)) error {
	if len(u.URLs) == 0 {
		return u.fail("", protocol.ErrNumPermanentHTTP, ErrNoURL)
	}
	st, err := u.Dir.Stat(u.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return u.fail("", protocol.ErrNumFileMissing, err)
	}
	if err != nil { // the disk's fault, perhaps for a moment
		return u.fail("", 0, err)
	}
	var last *Error
	for _, url := range u.URLs {
		err := c.send(ctx, u, url, st.Size(), progress)
		if err == nil {
			return nil
		}
		if last == nil || !last.Temporary() {
			last = err
		}
		if ctx.Err() != nil {
			return u.fail(url, 0, cause(ctx, ctx.Err()))
		}
	}
	return last
}

func (u Upload) fail(url string, num int, err error) *Error {
	return &Error{Op: "upload", Name: u.Name, URL: url, Num: num, Err: err}
}

func (c *Client) send(ctx context.Context, u Upload, url string, size int64, progress func(int64)) *Error {
	offset := int64(0)
	if size >= askSize || u.Retry || len(u.URLs) > 1 {
		reply, err := c.ask(ctx, u, url)
		if err != nil {
			return err
		}
		if offset = reply.FileSize; offset >= size && size > 0 {
			return nil
		}
	}
	return c.post(ctx, u, url, protocol.UploadRequest{
		Client: protocol.CompatVersion, Name: u.Name, XMLSignature: u.Signature,
		MaxNBytes: u.MaxNBytes, NBytes: size, Offset: offset, MD5: u.MD5,
	}, progress)
}

// ask asks for the size of the part that the server has.
func (c *Client) ask(ctx context.Context, u Upload, url string) (protocol.UploadReply, *Error) {
	ctx, _, stop := watch(ctx, nil, nil)
	defer stop()
	head := protocol.UploadRequest{Client: protocol.CompatVersion, SizeQuery: true, Name: u.Name}
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, url, head.Encode())
	if err != nil {
		return protocol.UploadReply{}, u.fail(url, 0, err)
	}
	return c.do(ctx, u, url, req)
}

// post sends the file from head.Offset on. Each of the short retries reads the
// file again.
func (c *Client) post(ctx context.Context, u Upload, url string, head protocol.UploadRequest, progress func(int64)) *Error {
	ctx, body, stop := watch(ctx, c.Up, progress)
	defer stop()
	f, err := foreigndir.Open(u.Dir, u.Name)
	if err != nil {
		return u.fail(url, 0, err)
	}
	defer f.Close()
	text := head.Encode()
	open := func() (io.Reader, error) {
		rest := io.NewSectionReader(f, head.Offset, head.NBytes-head.Offset)
		return io.MultiReader(bytes.NewReader(text), body.of(rest)), nil
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, url, retryablehttp.ReaderFunc(open))
	if err != nil {
		return u.fail(url, 0, err)
	}
	req.ContentLength = int64(len(text)) + head.NBytes - head.Offset
	_, failed := c.do(ctx, u, url, req)
	return failed
}

// do returns a data server's answer if it is one of success.
func (c *Client) do(ctx context.Context, u Upload, url string, req *retryablehttp.Request) (protocol.UploadReply, *Error) {
	req.Header.Set("User-Agent", c.UserAgent)
	req.Header.Set("Content-Type", "text/xml")
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return protocol.UploadReply{}, u.fail(url, 0, cause(ctx, err))
	}
	defer resp.Body.Close()
	fail := func(num int, err error) (protocol.UploadReply, *Error) {
		e := u.fail(url, num, err)
		e.Host = resp.Request.URL.Host
		return protocol.UploadReply{}, e
	}
	if resp.Request.Method != http.MethodPost {
		return fail(0, &httpclient.RedirectError{To: resp.Request.URL.Host, Why: "it would not send the file"})
	}
	if resp.StatusCode != http.StatusOK {
		// Whatever the code, the file may still be wanted: BOINC's rule.
		return fail(0, &StatusError{resp.StatusCode})
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return fail(0, cause(ctx, err))
	}
	reply, err := protocol.ParseUploadReply(b)
	switch {
	case err != nil && httpclient.IsPage(b):
		return fail(0, fmt.Errorf("%w (%w)", err, httpclient.ErrPage))
	case err != nil:
		return fail(0, fmt.Errorf("%w: %w", httpclient.ErrUnusable, err))
	case reply.Status == protocol.UploadPermanent:
		return fail(protocol.ErrNumPermanentHTTP, &RefusedError{reply.Message})
	case reply.Status != protocol.UploadOK:
		return fail(0, &RefusedError{reply.Message})
	}
	return reply, nil
}
