package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/starling-grid/starling/protocol"
)

// A Bucket is a Tree in a bucket of an S3 service. Incomplete files, and files that programs read,
// are kept in a folder of this machine.
type Bucket struct {
	*Dir // parts and copies for programs

	client *minio.Client
	bucket string
	prefix string // of keys, with a final slash
	cache  cache
}

// patience is the maximum time for an answer of the service to a request that moves no file.
var patience = time.Minute

// metaMD5 is the object's own metadata that holds the checksum of its content,
// which an ETag is not always.
const metaMD5 = "Md5"

// Reach sees whether the bucket of a place is there, see OpenBucket.
func Reach(ctx context.Context, where string) error {
	_, err := reach(ctx, where)
	return err
}

// Unreachable reports whether an error means that a bucket's service does not answer, or not yet,
// so that it may do so later.
func Unreachable(err error) bool {
	if _, ok := errors.AsType[*url.Error](err); ok {
		return !errors.Is(err, context.Canceled)
	}
	if e, ok := errors.AsType[minio.ErrorResponse](err); ok {
		return e.StatusCode >= http.StatusInternalServerError
	}
	return false
}

// OpenBucket opens the tree called name at the place
//
//	s3://BUCKET[/PREFIX]?endpoint=HOST[:PORT][&region=REGION][&tls=false]
//
// with the folder local for files in transfer. The keys are read from the environment
// (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), from ~/.aws/credentials, or from the machine's role.
// The bucket must exist.
func OpenBucket(ctx context.Context, where, name, local string) (*Bucket, error) {
	b, err := reach(ctx, where)
	if err != nil {
		return nil, err
	}
	if b.Dir, err = Open(local); err != nil {
		return nil, err
	}
	b.prefix += name + "/"
	b.cache.dir = filepath.Join(local, cacheDir)
	return b, nil
}

func reach(ctx context.Context, where string) (*Bucket, error) {
	u, err := url.Parse(where)
	if err != nil || u.Scheme != "s3" || u.Host == "" {
		return nil, fmt.Errorf("file storage %q: want s3://BUCKET/PREFIX?endpoint=HOST:PORT", where)
	}
	q := u.Query()
	for key := range q {
		if key != "endpoint" && key != "region" && key != "tls" {
			return nil, fmt.Errorf("file storage %q: unknown parameter %q; the parameters are endpoint, region and tls", where, key)
		}
	}
	endpoint := q.Get("endpoint")
	if endpoint == "" {
		endpoint = "s3.amazonaws.com"
	}
	client, err := minio.New(endpoint, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{},
		}),
		Secure: q.Get("tls") != "false",
		Region: q.Get("region"),
	})
	if err != nil {
		return nil, fmt.Errorf("file storage %q: %w", where, err)
	}
	there, err := client.BucketExists(ctx, u.Host)
	switch {
	case err == nil && !there:
		err = errors.New("the bucket does not exist; create it first")
	case minio.ToErrorResponse(err).StatusCode == http.StatusForbidden:
		err = errors.New("access denied; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to keys that may read and write the bucket (the service has them from /etc/starling-server/NAME.env)")
	}
	if err != nil {
		return nil, fmt.Errorf("bucket %s at %s: %w", u.Host, endpoint, err)
	}
	prefix := strings.TrimPrefix(u.Path, "/")
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	return &Bucket{client: client, bucket: u.Host, prefix: prefix}, nil
}

func (b *Bucket) key(name string) (string, error) {
	if err := protocol.ValidFileName(name); err != nil {
		return "", err
	}
	return b.prefix + name, nil
}

// missing turns the service's answer for a file that is not there into fs.ErrNotExist, if the bucket is there. While
// the disks of the service are not mounted it lacks the bucket, and all results whose files it holds would fail.
func (b *Bucket) missing(ctx context.Context, name string, err error) error {
	if err == nil || minio.ToErrorResponse(err).StatusCode != http.StatusNotFound {
		return err
	}
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()
	switch there, err := b.client.BucketExists(ctx, b.bucket); {
	case err != nil:
		return err
	case !there:
		return fmt.Errorf("file %s: the bucket %s no longer exists", name, b.bucket)
	}
	return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func (b *Bucket) stat(ctx context.Context, name string) (minio.ObjectInfo, error) {
	key, err := b.key(name)
	if err != nil {
		return minio.ObjectInfo{}, err
	}
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()
	st, err := b.client.StatObject(ctx, b.bucket, key, minio.StatObjectOptions{})
	return st, b.missing(ctx, name, err)
}

// Size implements Tree.
func (b *Bucket) Size(ctx context.Context, name string) (int64, error) {
	st, err := b.stat(ctx, name)
	return st.Size, err
}

// Sum implements Tree.
func (b *Bucket) Sum(ctx context.Context, name string) (Info, error) {
	st, err := b.stat(ctx, name)
	if err != nil {
		return Info{}, err
	}
	if sum := st.UserMetadata[metaMD5]; sum != "" {
		return Info{NBytes: st.Size, MD5: sum}, nil
	}
	f, err := b.Open(ctx, name) // someone else put it there
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	return SumReader(f)
}

// Open implements Tree.
func (b *Bucket) Open(ctx context.Context, name string) (*File, error) {
	key, err := b.key(name)
	if err != nil {
		return nil, err
	}
	o, err := b.client.GetObject(ctx, b.bucket, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, b.missing(ctx, name, err)
	}
	st, err := o.Stat()
	if err != nil {
		_ = o.Close()
		return nil, b.missing(ctx, name, err)
	}
	return &File{o, st.Size, st.LastModified}, nil
}

// Put implements Tree. Of two that store different content under one name at the
// same moment the first wins, if the service understands If-None-Match (as Amazon's and
// MinIO do), otherwise the later one: names are made so that this does not happen.
func (b *Bucket) Put(ctx context.Context, name string, r io.Reader) (Info, error) {
	info, err := b.put(ctx, name, r)
	if err != nil {
		return Info{}, fmt.Errorf("store file %s: %w", name, err)
	}
	return info, nil
}

func (b *Bucket) put(ctx context.Context, name string, r io.Reader) (Info, error) {
	if _, err := b.key(name); err != nil {
		return Info{}, err
	}
	tmp, err := os.CreateTemp(filepath.Join(b.root.Name(), tmpDir), "")
	if err != nil {
		return Info{}, err
	}
	defer func() {
		_ = tmp.Close()
		_ = os.Remove(tmp.Name())
	}()
	info, err := SumReader(io.TeeReader(r, tmp))
	if err != nil {
		return Info{}, err
	}
	switch old, err := b.Sum(ctx, name); {
	case err == nil && old == info:
		return info, nil
	case err == nil:
		return Info{}, ErrDifferent
	case !errors.Is(err, fs.ErrNotExist):
		return Info{}, err
	}
	err = b.send(ctx, name, tmp, info, true)
	switch minio.ToErrorResponse(err).StatusCode {
	case http.StatusPreconditionFailed:
		if old, err := b.Sum(ctx, name); err != nil || old == info {
			return info, err
		}
		return Info{}, ErrDifferent
	case http.StatusNotImplemented:
		err = b.send(ctx, name, tmp, info, false)
	}
	return info, err
}

// send makes a local file an object. With first it does so only if the name is free.
func (b *Bucket) send(ctx context.Context, name string, f *os.File, info Info, first bool) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	how := minio.PutObjectOptions{ContentType: "application/octet-stream", UserMetadata: map[string]string{metaMD5: info.MD5}}
	if first {
		how.SetMatchETagExcept("*")
	}
	_, err := b.client.PutObject(ctx, b.bucket, b.prefix+name, f, info.NBytes, how)
	return err
}

// CommitPart implements Parts.
func (b *Bucket) CommitPart(ctx context.Context, name string) error {
	if _, err := b.key(name); err != nil {
		return err
	}
	f, err := b.root.Open(partName(name))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := SumReader(f)
	if err != nil {
		return err
	}
	if err := b.send(ctx, name, f, info, false); err != nil {
		return err
	}
	return b.RemovePart(name)
}

// Remove implements Tree.
func (b *Bucket) Remove(ctx context.Context, name string) error {
	key, err := b.key(name)
	if err != nil {
		return err
	}
	asked, done := context.WithTimeout(ctx, patience)
	defer done()
	err = b.client.RemoveObject(asked, b.bucket, key, minio.RemoveObjectOptions{})
	if err = b.missing(ctx, name, err); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	b.cache.remove(name)
	return b.Dir.Remove(ctx, name)
}

// Walk implements Tree.
func (b *Bucket) Walk(ctx context.Context, fn func(name string, modified time.Time) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for o := range b.client.ListObjects(ctx, b.bucket, minio.ListObjectsOptions{Prefix: b.prefix}) {
		if o.Err != nil {
			return o.Err
		}
		name := strings.TrimPrefix(o.Key, b.prefix)
		if protocol.ValidFileName(name) != nil {
			continue // not of our making
		}
		if err := fn(name, o.LastModified); err != nil {
			return err
		}
	}
	return b.Dir.Walk(ctx, fn)
}

// CopyTo implements Tree.
func (b *Bucket) CopyTo(ctx context.Context, name, to string) error {
	f, err := b.Open(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close()
	return write(f, to)
}

// Locate implements Tree: it fetches the file, unless it did within the last hour.
func (b *Bucket) Locate(ctx context.Context, name string) (string, error) {
	if _, err := b.key(name); err != nil {
		return "", err
	}
	return b.cache.get(name, func(to string) error { return b.CopyTo(ctx, name, to) })
}
