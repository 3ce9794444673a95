package filexfer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/starling-grid/starling/internal/busyfile"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/protocol"
)

// A Download describes the wanted file, and the properties by which it is verified.
type Download struct {
	Dir        *os.Root // the project's folder
	Name       string   // physical name, checked by protocol.ValidFileName
	URLs       []string
	Gzipped    bool   // the URLs return gzip of the file
	NBytes     int64  // 0: unknown, then the transfer cannot be resumed
	MD5        string // "" unknown
	Executable bool

	Signed    bool   // an application file: Signature and Key are required
	Signature string // text of the code signature
	Key       string // text of the project's code signing key
}

// partName returns the name under which a file's content is collected. It is not a valid file name,
// so that a project cannot give another file the name of a part and have it overwritten after it
// was checked.
func partName(name string) string { return beside(name, "..part") }

// CompiledName returns the name under which the code is kept that a file was compiled to. It is not
// a valid file name either.
func CompiledName(name string) string { return beside(name, "..compiled") }

func beside(name, suffix string) string {
	const longest = 255
	if len(name)+len(suffix) > longest {
		sum := md5.Sum([]byte(name))
		name = hex.EncodeToString(sum[:])
	}
	return name + suffix
}

// Remove deletes a file, the remains of an unfinished download of it and its compiled code. It is not
// an error if none of them exists.
func Remove(dir *os.Root, name string) error {
	var errs []error
	for _, n := range []string{name, partName(name), CompiledName(name)} {
		if err := dir.Remove(n); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// maxUnknown is the maximum size of a file whose size the project did not state.
const maxUnknown = 16 << 30

// Download fetches a file, tries one URL after the other, continues where an
// earlier attempt stopped, and checks the file before it gets its name. A file
// that is there already and good is not fetched again. progress, which may be
// nil, is called with the bytes of each read. The error is an *Error.
func (c *Client) Download(ctx context.Context, d Download, progress func(n int64)) error {
	if err := protocol.ValidFileName(d.Name); err != nil {
		return d.fail("", protocol.ErrNumPermanentHTTP, err)
	}
	if len(d.URLs) == 0 {
		return d.fail("", protocol.ErrNumPermanentHTTP, ErrNoURL)
	}
	if d.check(d.Name) == nil {
		return nil
	}
	var last *Error
	for _, url := range d.URLs {
		err := c.obtain(ctx, d, url, progress)
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

// obtain fetches and checks the file. If the remains of an earlier attempt turn out not to be a
// part of it, the file is fetched once more, from its beginning. The old part may be an error page,
// or torn by a power cut.
func (c *Client) obtain(ctx context.Context, d Download, url string, progress func(int64)) *Error {
	resumed, err := c.fetch(ctx, d, url, progress)
	if err == nil || !resumed {
		return err
	}
	if _, e := d.Dir.Lstat(partName(d.Name)); !errors.Is(e, fs.ErrNotExist) {
		return err // still good for resuming
	}
	_, err = c.fetch(ctx, d, url, progress)
	return err
}

// fetch appends the missing rest to the part file, checks it and gives it its name. It removes a part
// that cannot be continued. resumed reports whether there was a part to resume from.
func (c *Client) fetch(ctx context.Context, d Download, url string, progress func(int64)) (resumed bool, _ *Error) {
	part := partName(d.Name)
	have := int64(0)
	if st, err := d.Dir.Lstat(part); err == nil {
		switch {
		case !st.Mode().IsRegular():
			_ = d.Dir.Remove(part) // it may lead elsewhere
		case d.NBytes > 0 && !d.Gzipped && st.Size() <= d.NBytes:
			have = st.Size()
		}
	}
	if have > 0 && have == d.NBytes {
		return true, d.accept(url)
	}
	return have > 0, c.get(ctx, d, url, have, progress)
}

func (c *Client) get(ctx context.Context, d Download, url string, have int64, progress func(int64)) *Error {
	part := partName(d.Name)
	ctx, body, stop := watch(ctx, c.Down, progress)
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
	fail := func(num int, err error) *Error {
		e := d.fail(url, num, err)
		e.Host = resp.Request.URL.Host
		return e
	}
	content := bufio.NewReader(body.of(resp.Body))
	isPage := false
	switch {
	case resp.StatusCode == http.StatusPartialContent && have > 0:
		if r := resp.Header.Get("Content-Range"); r != "" && !strings.HasPrefix(r, fmt.Sprintf("bytes %d-", have)) {
			_ = d.Dir.Remove(part)
			return fail(0, fmt.Errorf("requested data from byte %d on, got range %.60q", have, r))
		}
	case resp.StatusCode == http.StatusOK:
		head, _ := content.Peek(httpclient.Head)
		if isPage = httpclient.IsPage(head); isPage && have > 0 && !d.begins(part, head) {
			return fail(0, httpclient.ErrPage) // the part stays
		}
		have = 0
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		_ = d.Dir.Remove(part) // our idea of the file was wrong, so start over
		return fail(0, &StatusError{resp.StatusCode})
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusRequestTimeout,
		resp.StatusCode/100 == 3: // a redirect without an address: the file may be there
		return fail(0, &StatusError{resp.StatusCode})
	default:
		return fail(protocol.ErrNumPermanentHTTP, &StatusError{resp.StatusCode})
	}
	if err := d.store(part, have, content); err != nil {
		if isPage && (errors.Is(err, gzip.ErrHeader) || errors.Is(err, ErrCut)) {
			_ = d.Dir.Remove(part)
			return fail(0, httpclient.ErrPage)
		}
		return fail(0, cause(ctx, err))
	}
	failed := d.accept(url)
	if failed != nil && isPage && !failed.Temporary() {
		return fail(0, httpclient.ErrPage) // which the project's server may not have sent
	}
	return failed
}

// begins reports whether the part file begins with head, as far as both go.
func (d Download) begins(part string, head []byte) bool {
	f, err := foreigndir.Open(d.Dir, part)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, len(head))
	n, _ := io.ReadFull(f, b)
	return bytes.Equal(b[:n], head[:n])
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
		limit = d.NBytes - offset + 1 // one byte too many is enough to detect that
	}
	n, err := io.Copy(f, io.LimitReader(body, limit))
	if err != nil {
		return err
	}
	if d.NBytes > 0 && offset+n < d.NBytes {
		return fmt.Errorf("%w after %d of %d bytes", ErrCut, offset+n, d.NBytes)
	}
	return f.Sync()
}

// accept checks the part file and gives it its name. A bad one is removed.
func (d Download) accept(url string) *Error {
	part := partName(d.Name)
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
	if err := busyfile.Retry(func() error { return d.Dir.Rename(part, d.Name) }); err != nil {
		return d.fail("", 0, err)
	}
	return nil
}

// Check returns an error unless the file in the folder is the one described. It is an *Error with
// BOINC's number for the fault.
func (d Download) Check() error {
	if err := d.check(d.Name); err != nil {
		return err
	}
	return nil
}

func (d Download) check(name string) *Error {
	f, err := foreigndir.Open(d.Dir, name)
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

// verify checks the signature, which covers the whole content. A checksum in addition would add
// nothing.
func (d Download) verify(f io.Reader) *Error {
	if d.Signature == "" {
		return d.fail("", protocol.ErrNumNoSignature, errors.New("application file has no signature"))
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
