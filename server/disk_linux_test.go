package server_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// mount puts a small file system at dir, until the test ends.
func mount(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root mounts file systems; a disk that is full or read-only is NOT tested")
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("mount: %v; a disk that is full or read-only is NOT tested", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// onSmallDisk gives the next world a separate file system, and returns its root.
func onSmallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	mount(t, dir)
	choose(t, func(g *ground) { g.folder = dir })
	return dir
}

// send uploads a file as a client would, and returns the answer.
func (c *client) send(f protocol.FileInfo, data string) protocol.UploadReply {
	c.w.t.Helper()
	head := protocol.UploadRequest{Name: f.Name, XMLSignature: f.XMLSignature, MaxNBytes: f.MaxNBytes, NBytes: int64(len(data))}.Encode()
	res := c.w.do("POST", f.UploadURLs[0], strings.NewReader(string(head)+data))
	defer res.Body.Close()
	var b bytes.Buffer
	_, err := b.ReadFrom(res.Body)
	c.w.must(err)
	reply, err := protocol.ParseUploadReply(b.Bytes())
	c.w.must(err)
	return reply
}

// output returns the description of the first result's output.
func output(reply *protocol.SchedulerReply) (f protocol.FileInfo) {
	for _, f = range reply.Files {
		if f.Name == reply.Results[0].FileRefs[0].FileName {
			return f
		}
	}
	return f
}

// report reports a result and returns the HTTP status of the answer.
func (c *client) report(name string) int {
	c.w.t.Helper()
	req := protocol.SchedulerRequest{
		Authenticator: c.key, HostID: c.host, RPCSeqno: 99, Client: protocol.Version{Major: 7}, Platform: "x86_64-pc-linux-gnu",
		Results: []protocol.ReportedResult{{Name: name, State: protocol.ClientUploaded}},
	}
	res := c.w.do("POST", master+"cgi", bytes.NewReader(req.Encode()))
	_ = res.Body.Close()
	return res.StatusCode
}

// When the disk is full, clients are asked to retry later and the log has the reason. When there is
// room again, everything continues without a restart.
func TestAFullDiskLosesNothing(t *testing.T) {
	t.Parallel()
	disk := onSmallDisk(t)
	w := newWorld(t)
	w.setUp()
	c := &client{w: w, key: w.user("ada@example.org"), name: "box"}
	w.create(workgen.Params{}, "text")
	work := c.fetch()
	fill := filepath.Join(disk, "fill")
	f, err := os.Create(fill)
	w.must(err)
	for _, size := range []int{1 << 20, 4096, 1} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		if !errors.Is(err, unix.ENOSPC) {
			t.Fatal(err)
		}
	}
	_ = f.Close()
	if got := c.send(output(work), strings.Repeat("TEXT", 10_000)); got.Status != protocol.UploadTransient || !strings.Contains(got.Message, "disk") {
		t.Errorf("the upload is answered %+v", got)
	}
	if code := c.report(work.Results[0].Name); code != 503 {
		t.Errorf("the report is answered with HTTP %d", code)
	}
	if _, err := operate.AddUser(t.Context(), w.p, "bob@example.org", "", "", w.now()); !errors.Is(err, store.ErrFull) {
		t.Errorf("an operator reads %v", err)
	}
	if wrong := operate.CheckFolders(w.p); len(wrong) != 1 || !strings.Contains(wrong[0].Rows[0], "no space left") {
		t.Errorf("an operator reads %+v", wrong)
	}
	w.must(os.Remove(fill))
	if wrong := operate.CheckFolders(w.p); len(wrong) != 0 {
		t.Errorf("with room again, an operator reads %+v", wrong)
	}
	c.compute(work)
	if st := w.status(); st.Results.Granted != 1 || !st.Done || st.Users != 1 {
		t.Errorf("got %+v", st)
	}
}

// When files cannot be written, outputs stay with their clients until they can.
func TestUploadsToAReadOnlyDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	w.must(w.p.Close())
	disk := filepath.Join(w.dir, "upload")
	mount(t, disk)
	p, err := project.Open(t.Context(), w.dir, slog.New(slog.DiscardHandler))
	w.must(err)
	defer p.Close()
	w.p = p
	w.web, err = server.New(p, server.Part{}).Handler(func() {})
	w.must(err)
	c := &client{w: w, key: w.user("ada@example.org"), name: "box"}
	w.create(workgen.Params{}, "text")
	work := c.fetch()
	w.must(unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	if got := c.send(output(work), "TEXT"); got.Status != protocol.UploadTransient {
		t.Errorf("the upload is answered %+v", got)
	}
	w.must(unix.Mount("", disk, "", unix.MS_REMOUNT, ""))
	c.compute(work)
	if st := w.status(); st.Results.Granted != 1 || !st.Done {
		t.Errorf("got %+v", st)
	}
}

// A project on a read-only disk reports this and is unchanged.
func TestAReadOnlyDisk(t *testing.T) {
	t.Parallel()
	disk := onSmallDisk(t)
	w := newWorld(t)
	w.setUp()
	w.must(w.p.Close())
	w.must(unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	if err := serve(t, w.dir); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("serve says %v", err)
	}
	w.must(unix.Mount("", disk, "", unix.MS_REMOUNT, ""))
	w.must(serve(t, w.dir))
}

// While the service that holds the files is away, outputs stay with their clients, and
// inputs come later.
func TestTheBucketGoesAwayAndComesBack(t *testing.T) {
	t.Parallel()
	s3 := inBucket(t)
	w := newWorld(t)
	w.setUp()
	c := &client{w: w, key: w.user("ada@example.org"), name: "box"}
	w.create(workgen.Params{}, "text")
	work := c.fetch()
	s3.Stop()
	if got := c.send(output(work), "TEXT"); got.Status != protocol.UploadTransient {
		t.Errorf("the upload is answered %+v", got)
	}
	for _, f := range work.Files {
		if len(f.DownloadURLs) == 0 {
			continue
		}
		if code, _ := w.get(strings.TrimPrefix(f.DownloadURLs[0], master)); code != 503 {
			t.Errorf("%s: HTTP %d", f.Name, code)
		}
	}
	s3.Restart(t)
	c.compute(work)
	if st := w.status(); st.Results.Granted != 1 || !st.Done {
		t.Errorf("got %+v", st)
	}
}
