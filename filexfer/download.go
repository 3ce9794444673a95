package filexfer

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/starling-grid/starling/protocol"
)

// A Download says which file is wanted, and what makes it the right one.
type Download struct {
	Dir        *os.Root // the project's folder
	Name       string   // physical name, checked by protocol.ValidFileName
	URLs       []string
	Gzipped    bool   // what the URLs give is gzip of the file
	NBytes     int64  // 0: unknown, then the transfer cannot be resumed
	MD5        string // "" unknown
	Executable bool

	Signed    bool   // an application file: Signature and Key are required
	Signature string // text of the code signature
	Key       string // text of the project's code signing key
}

const partSuffix = ".part"

// maxUnknown bounds a file whose size the project did not tell.
const maxUnknown = 16 << 30

// Download fetches a file, tries one URL after the other, goes on where an
// earlier attempt stopped, and checks the file before it gets its name. A file
// that is there already and good is not fetched again. progress, which may be
// nil, is called with the bytes of each read. The error is an *Error.
func (c *Client) Download(ctx context.Context, d Download, progress func(n int64)) error {
	if err := protocol.ValidFileName(d.Name); err != nil {
		return d.fail("", protocol.ErrNumPermanentHTTP, err)
	}
	if len(d.URLs) == 0 {
		return d.fail("", protocol.ErrNumPermanentHTTP, errors.New("the project gave no address to fetch it from"))
	}
	if d.check(d.Name) == nil {
		return nil
	}
	var last *Error
	for _, url := range d.URLs {
		err := c.fetch(ctx, d, url, progress)
		if err == nil {
			err = d.accept(url)
		}
		if err == nil {
			return nil
		}
		// A permanent refusal by one server does not end what another may give.
		if last == nil || err.Temporary() || !last.Temporary() {
			last = err
		}
		if ctx.Err() != nil {
			return d.fail(url, 0, cause(ctx, ctx.Err()))
		}
	}
	return last
}

func (d Download) fail(url string, num int, err error) *Error {
	return &Error{Op: "download", Name: d.Name, URL: url, Num: num, Err: err}
}

// fetch appends what is missing of the part file.
func (c *Client) fetch(ctx context.Context, d Download, url string, progress func(int64)) *Error {
	part := d.Name + partSuffix
	have := int64(0)
	if st, err := d.Dir.Stat(part); err == nil && d.NBytes > 0 && !d.Gzipped {
		have = st.Size()
	}
	if have == d.NBytes && have > 0 {
		return nil
	}
	ctx, body, stop := watch(ctx, progress)
	defer stop()
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return d.fail(url, protocol.ErrNumPermanentHTTP, err)
	}
	req.Header.Set("User-Agent", c.UserAgent)
	req.Header.Set("Accept-Encoding", "identity")
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return d.fail(url, 0, cause(ctx, err))
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusPartialContent && have > 0:
	case resp.StatusCode == http.StatusOK:
		have = 0
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		_ = d.Dir.Remove(part) // our idea of the file was wrong; begin anew
		return d.fail(url, 0, &StatusError{resp.StatusCode})
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests:
		return d.fail(url, 0, &StatusError{resp.StatusCode})
	default:
		return d.fail(url, protocol.ErrNumPermanentHTTP, &StatusError{resp.StatusCode})
	}
	reader := body.of(resp.Body)
	if err := d.store(part, have, reader); err != nil {
		return d.fail(url, 0, cause(ctx, err))
	}
	return nil
}

// store writes the rest of the part file from offset on and syncs it.
func (d Download) store(part string, offset int64, body io.Reader) (err error) {
	f, err := d.Dir.OpenFile(part, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(offset); err != nil {
		return err
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	if d.Gzipped {
		z, err := gzip.NewReader(body)
		if err != nil {
			return fmt.Errorf("unpack: %w", err)
		}
		body = z
	}
	limit := int64(maxUnknown)
	if d.NBytes > 0 {
		limit = d.NBytes - offset + 1 // one byte too many is enough to know
	}
	n, err := io.Copy(f, io.LimitReader(body, limit))
	if err != nil {
		return err
	}
	if d.NBytes > 0 && offset+n < d.NBytes {
		return fmt.Errorf("connection ended after %d of %d bytes", offset+n, d.NBytes)
	}
	return f.Sync()
}

// accept checks the part file and gives it its name. A bad one is removed.
func (d Download) accept(url string) *Error {
	part := d.Name + partSuffix
	if err := d.check(part); err != nil {
		_ = d.Dir.Remove(part)
		err.URL = url
		return err
	}
	perm := os.FileMode(0o644)
	if d.Executable {
		perm = 0o755
	}
	if err := d.Dir.Chmod(part, perm); err != nil {
		return d.fail("", 0, err)
	}
	if err := d.Dir.Rename(part, d.Name); err != nil {
		return d.fail("", 0, err)
	}
	return nil
}

// Check tells whether the file in the folder is the one described. The error is
// an *Error with BOINC's number for what is wrong.
func (d Download) Check() error {
	if err := d.check(d.Name); err != nil {
		return err
	}
	return nil
}

func (d Download) check(name string) *Error {
	f, err := d.Dir.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return d.fail("", protocol.ErrNumFileMissing, err)
	} else if err != nil {
		return d.fail("", 0, err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return d.fail("", 0, err)
	}
	if d.NBytes > 0 && st.Size() != d.NBytes {
		return d.fail("", protocol.ErrNumWrongSize, fmt.Errorf("wrong size: got %d bytes, want %d", st.Size(), d.NBytes))
	}
	if d.Signed {
		return d.verify(f)
	}
	if d.MD5 != "" {
		got, err := md5Of(f)
		if err != nil {
			return d.fail("", 0, err)
		}
		if got != d.MD5 {
			return d.fail("", protocol.ErrNumMD5, fmt.Errorf("%w: got %s, want %s", ErrChecksum, got, d.MD5))
		}
	}
	return nil
}

// verify checks the signature, which covers the whole content; a checksum beside
// it would add nothing.
func (d Download) verify(f io.Reader) *Error {
	if d.Signature == "" {
		return d.fail("", protocol.ErrNumNoSignature, errors.New("application file without a signature"))
	}
	key, err := protocol.ParsePublicKey(d.Key)
	if err != nil {
		return d.fail("", protocol.ErrNumSignature, err)
	}
	if err := key.Verify(f, d.Signature); err != nil {
		return d.fail("", protocol.ErrNumSignature, fmt.Errorf("signature check failed: %w", err))
	}
	return nil
}
