package api

import (
	"context"
	"crypto/md5" // BOINC's checksum of files
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/workgen"
)

const (
	fetchTime    = 10 * time.Minute // for one file
	fetchConnect = 20 * time.Second // until a server answers
	redirects    = 5
)

// A fetcher fetches the files of one request into a folder, each URL once.
type fetcher struct {
	dir    string
	owner  int64 // token
	left   int64 // bytes
	max    int64
	client *http.Client
	got    map[string]fetched // by URL
}

type fetched struct {
	path   string
	nbytes int64
	md5    string
}

func newFetcher(c Settings) *fetcher {
	dialer := &net.Dialer{Timeout: fetchConnect}
	if !c.FetchPrivate {
		dialer.Control = refusePrivate
	}
	return &fetcher{left: c.MaxFetchMB.Bytes(), max: c.MaxFetchMB.Bytes(), got: make(map[string]fetched), client: &http.Client{
		Timeout: fetchTime,
		// No proxy: it would connect in the server's stead, to any address.
		Transport: &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: fetchConnect, ResponseHeaderTimeout: fetchConnect, DisableKeepAlives: true},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			r.Header.Del("Referer") // the previous address may contain a secret
			if len(via) > redirects {
				return fmt.Errorf("it redirects more than %d times", redirects)
			}
			return fetchable(r.URL)
		},
	}}
}

// A privateError is an address from which nothing is fetched.
type privateError struct{ at netip.Addr }

func (e privateError) Error() string { return e.at.String() + " is not a public address" }

// refusePrivate is asked with the address itself before each connection, so that neither a name
// nor a redirect leads to one that is not public.
func refusePrivate(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if ip := at.Addr().Unmap(); !public(ip) {
		return privateError{ip}
	}
	return nil
}

// special has the addresses that IANA's registries of special purposes list as not globally
// reachable, in addition to those that netip recognizes, and those that embed an IPv4 address.
var special = func() (list []netip.Prefix) {
	for _, s := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
	} {
		list = append(list, netip.MustParsePrefix(s))
	}
	return list
}()

func public(ip netip.Addr) bool {
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(ip) })
}

func fetchable(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("want an http:// or https:// address")
	}
	return nil
}

// A fetchError has the reason why a file was not fetched, and a remedy.
type fetchError struct {
	err  error
	cure string
}

func (e *fetchError) Error() string { return e.err.Error() }
func (e *fetchError) Unwrap() error { return e.err }

// fetch fetches a file and compares it with the size and the checksum that are known of it.
func (f *fetcher) fetch(ctx context.Context, r workgen.Remote) (fetched, error) {
	got, ok := f.got[r.URL]
	if !ok {
		var err error
		if got, err = f.get(ctx, r); err != nil {
			return got, err
		}
		f.got[r.URL] = got
	}
	const cure = "correct its description in the request, or the file there"
	switch {
	case r.MD5 != "" && r.MD5 != got.md5:
		return got, &fetchError{fmt.Errorf("its MD5 is %s, want %s", got.md5, r.MD5), cure}
	case r.NBytes != 0 && r.NBytes != got.nbytes:
		return got, &fetchError{fmt.Errorf("it has %d bytes, want %d", got.nbytes, r.NBytes), cure}
	}
	return got, nil
}

func (f *fetcher) get(ctx context.Context, r workgen.Remote) (got fetched, err error) {
	const check = "check the address and send the batch again under the same name"
	if f.max == 0 {
		return got, &fetchError{errors.New("the project fetches no files"), "send its content, give its nbytes and md5 without copy, or ask the project's operator to set max_fetch_mb"}
	}
	u, err := url.Parse(r.URL)
	if err == nil {
		err = fetchable(u)
	}
	if err != nil {
		return got, &fetchError{err, check}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return got, &fetchError{err, check}
	}
	res, err := f.client.Do(req)
	if p, is := errors.AsType[privateError](err); is {
		return got, &fetchError{p, "send the file's content instead, or ask the project's operator to set fetch_private"}
	}
	if err != nil {
		return got, f.failed(ctx, err, check)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return got, &fetchError{errors.New("the server there answers " + res.Status), check}
	}
	return f.save(ctx, res.Body, r.File())
}

// save writes a body into a separate folder.
func (f *fetcher) save(ctx context.Context, body io.Reader, name string) (got fetched, err error) {
	folder, err := os.MkdirTemp(f.dir, "fetched")
	if err != nil {
		return got, err
	}
	got.path = filepath.Join(folder, name)
	file, err := os.OpenFile(got.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return got, err
	}
	sum := md5.New()
	in := &reader{r: io.LimitReader(body, f.left+1)}
	got.nbytes, err = io.Copy(io.MultiWriter(file, sum), in)
	if closed := file.Close(); err == nil {
		err = closed
	}
	switch {
	case in.err != nil:
		return got, f.failed(ctx, in.err, "send the batch again under the same name")
	case err != nil:
		return got, err
	case got.nbytes > f.left:
		return got, &fetchError{fmt.Errorf("the project fetches at most %v MB for one batch", words.Float(float64(f.max)/1e6)), "give nbytes and md5 without copy, so that computers fetch it themselves, use several batches, or ask the project's operator to raise max_fetch_mb"}
	}
	f.left -= got.nbytes
	got.md5 = hex.EncodeToString(sum.Sum(nil))
	return got, nil
}

// failed is an error of the network. If the sender has gone, it is not the other server's fault.
func (f *fetcher) failed(ctx context.Context, err error, cure string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	text := ""
	name, unknown := errors.AsType[*net.DNSError](err)
	late, timed := errors.AsType[net.Error](err)
	op, refused := errors.AsType[*net.OpError](err)
	inner, of := errors.AsType[*url.Error](err)
	switch { // without the address, which the message has already
	case unknown && name.IsNotFound:
		text = "there is no computer called " + name.Name
	case timed && late.Timeout():
		text = "the server there takes too long to answer"
	case refused:
		text = op.Err.Error()
	case of:
		text = inner.Err.Error()
	default:
		text = err.Error()
	}
	return &fetchError{errors.New(text), cure}
}

// A reader remembers an error of reading, so that an error of the other server can be distinguished
// from one of writing.
type reader struct {
	r   io.Reader
	err error
}

func (r *reader) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}
