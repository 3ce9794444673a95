package servertest

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/starling-grid/starling/protocol"
)

// A volunteer is a computer with an account, which computes the tasks that it gets.
type volunteer struct {
	p       *Project
	name    string
	key     protocol.Authenticator
	compute Func // replaces the project's applications, unless nil

	host, seqno int64
}

// pause is the time that a volunteer waits after a reply without work.
const pause = 10 * time.Millisecond

// Volunteer starts a computer with a separate account that computes until the test ends. It has one
// CPU.
func (p *Project) Volunteer(name string) { p.VolunteerWho(name, nil) }

// VolunteerWho is like Volunteer, but the computer uses the function compute for all its tasks: its
// results may be wrong, for example, or it may be slow.
func (p *Project) VolunteerWho(name string, compute Func) {
	p.tb.Helper()
	v := &volunteer{p: p, name: name, key: protocol.Authenticator(p.Account(name + "@example.org")), compute: compute}
	p.work.Go(func() {
		if err := v.run(p.ctx); err != nil && p.ctx.Err() == nil {
			p.tb.Errorf("volunteer %s: %v", name, err)
		}
	})
}

// run asks, computes and reports until ctx ends.
func (v *volunteer) run(ctx context.Context) error {
	var reports []protocol.ReportedResult
	for {
		reply, err := v.ask(ctx, reports)
		if err != nil {
			return err
		}
		reports = nil
		for _, r := range reply.Results {
			report, err := v.task(ctx, reply, r)
			if err != nil {
				return err
			}
			reports = append(reports, report)
		}
		if len(reports) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// ask makes a request with reports, for one task.
func (v *volunteer) ask(ctx context.Context, reports []protocol.ReportedResult) (*protocol.SchedulerReply, error) {
	req := protocol.SchedulerRequest{
		Authenticator: v.key, HostID: v.host, RPCSeqno: v.seqno, Client: protocol.Version{Major: 8, Minor: 2}, Platform: platform,
		CPUReqSeconds: 1, Results: reports,
		Host: protocol.HostInfo{DomainName: v.name, HostCPID: v.name, NCPUs: 1, Fpops: 1e9, MemBytes: 8e9, DiskTotal: 1e12, DiskFree: 1e11},
	}
	body, err := v.do(ctx, http.MethodPost, v.p.URL+"cgi", req.Encode())
	if err != nil {
		return nil, err
	}
	reply, err := protocol.ParseSchedulerReply(body)
	if err != nil {
		return nil, err
	}
	v.seqno++
	if reply.HostID != 0 {
		v.host, v.seqno = reply.HostID, 1
	}
	return reply, nil
}

// task computes one result.
func (v *volunteer) task(ctx context.Context, reply *protocol.SchedulerReply, r protocol.Result) (protocol.ReportedResult, error) {
	report := protocol.ReportedResult{Name: r.Name, Platform: r.Platform, VersionNum: r.VersionNum}
	i := slices.IndexFunc(reply.Workunits, func(w protocol.Workunit) bool { return w.Name == r.WorkunitName })
	if i < 0 {
		return report, fmt.Errorf("result %s came without its workunit", r.Name)
	}
	wu := reply.Workunits[i]
	files := make(map[string]protocol.FileInfo)
	for _, f := range reply.Files {
		files[f.Name] = f
	}
	t := &Task{
		Result: r.Name, Workunit: wu.Name, CommandLine: wu.CommandLine,
		inputs: make(map[string][]byte), outputs: make(map[string][]byte),
	}
	for _, ref := range wu.FileRefs {
		content, err := v.download(ctx, files[ref.FileName])
		if err != nil {
			return report, err
		}
		t.inputs[ref.Logical()] = content
	}
	compute := v.compute
	if compute == nil {
		v.p.mu.Lock()
		compute = v.p.apps[wu.AppName]
		v.p.mu.Unlock()
	}
	began := time.Now()
	failed := compute(ctx, t)
	report.FinalElapsedTime = time.Since(began)
	report.FinalCPUTime = report.FinalElapsedTime
	if failed != nil {
		report.State, report.ExitStatus, report.StderrOut = protocol.ClientComputeError, 1, failed.Error()
		return report, nil
	}
	for _, ref := range r.FileRefs {
		content, there := t.outputs[ref.Logical()]
		delete(t.outputs, ref.Logical())
		if !there {
			if ref.Optional {
				continue
			}
			report.State, report.ExitStatus, report.StderrOut = protocol.ClientComputeError, 1, "no output file "+ref.Logical()
			return report, nil
		}
		if err := v.upload(ctx, files[ref.FileName], content); err != nil {
			return report, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.outputs)) {
		v.p.tb.Errorf("application %s wrote %q, which is not among its output files", wu.AppName, name)
	}
	report.State = protocol.ClientUploaded
	return report, nil
}

func (v *volunteer) download(ctx context.Context, f protocol.FileInfo) ([]byte, error) {
	if len(f.DownloadURLs) == 0 {
		return nil, fmt.Errorf("input file %s has no address", f.Name)
	}
	content, err := v.do(ctx, http.MethodGet, f.DownloadURLs[0], nil)
	if err != nil {
		return nil, err
	}
	if sum := md5.Sum(content); f.MD5 != "" && hex.EncodeToString(sum[:]) != f.MD5 {
		return nil, fmt.Errorf("input file %s has another checksum than the scheduler says", f.Name)
	}
	return content, nil
}

func (v *volunteer) upload(ctx context.Context, f protocol.FileInfo, content []byte) error {
	if len(f.UploadURLs) == 0 {
		return fmt.Errorf("output file %s has no address", f.Name)
	}
	sum := md5.Sum(content)
	head := protocol.UploadRequest{
		Client: protocol.Version{Major: 8, Minor: 2}, Name: f.Name, XMLSignature: f.XMLSignature, MaxNBytes: f.MaxNBytes,
		NBytes: int64(len(content)), MD5: hex.EncodeToString(sum[:]),
	}
	body, err := v.do(ctx, http.MethodPost, f.UploadURLs[0], slices.Concat(head.Encode(), content))
	if err != nil {
		return err
	}
	reply, err := protocol.ParseUploadReply(body)
	if err == nil && reply.Status != protocol.UploadOK {
		err = fmt.Errorf("upload of %s: %s", f.Name, reply.Message)
	}
	return err
}

// do makes a request and returns the body of the reply. With faults on purpose it repeats failed
// requests.
func (v *volunteer) do(ctx context.Context, method, url string, body []byte) ([]byte, error) {
	for {
		answer, err := once(ctx, method, url, body)
		if err == nil || !v.p.faulty {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

func once(ctx context.Context, method, url string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", req.Method, req.URL, resp.Status, bytes.TrimSpace(answer))
	}
	return answer, err
}
