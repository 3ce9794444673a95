package api

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/forecast"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/store"
)

// boincBatch is the batch in submit_batch and estimate_batch.
type boincBatch struct {
	AppName        string
	BatchID        string
	BatchName      string
	Priority       *int64
	Allocation     *struct{}
	AppVersion     float64
	InputTemplate  string
	OutputTemplate string
	Params         struct {
		DiskBound   float64 `xml:"rsc_disk_bound"`
		FpopsEst    float64 `xml:"rsc_fpops_est"`
		FpopsBound  float64 `xml:"rsc_fpops_bound"`
		MemoryBound float64 `xml:"rsc_memory_bound"`
		DelayBound  float64 `xml:"delay_bound"`
	}
	Jobs []boincJob
}

type boincJob struct {
	Name           string
	CommandLine    string
	FpopsEst       float64
	Priority       *int64
	InputTemplate  *struct{}
	OutputTemplate *struct{}
	TargetTeam     float64
	TargetUser     float64
	TargetHost     float64
	Files          []boincFile
}

type boincFile struct {
	Mode   string  `xml:"mode"`
	Source string  `xml:"source"`
	URL    string  `xml:"url"`
	NBytes float64 `xml:"nbytes"`
	MD5    string  `xml:"md5"`
}

// unsupported returns the error for a feature of BOINC's server that this one lacks.
func unsupported(what, cure string) error {
	return faultf(http.StatusUnprocessableEntity, cure, "%s is not supported here", what)
}

// submission translates a batch.
func (b *boincBatch) submission() (s wire.Submission, err error) {
	app := strings.TrimSpace(b.AppName)
	s = wire.Submission{
		App: app, Name: strings.TrimSpace(b.BatchName),
		DiskBound: b.Params.DiskBound, FpopsEst: b.Params.FpopsEst, FpopsBound: b.Params.FpopsBound, MemoryBound: b.Params.MemoryBound, DelayBound: b.Params.DelayBound,
	}
	const template = "put the template into the project's folder templates as APP_in or APP_out"
	switch {
	case b.Allocation != nil:
		return s, unsupported("allocation_priority", "give a priority")
	case b.AppVersion != 0:
		return s, unsupported("app_version_num", "leave it out: each computer gets the best version for it")
	case b.InputTemplate != "" && b.InputTemplate != app+"_in", b.OutputTemplate != "" && b.OutputTemplate != app+"_out":
		return s, unsupported("a template of another name", template)
	}
	if b.Priority != nil {
		s.Priority = *b.Priority
	}
	for _, j := range b.Jobs {
		wu := wire.Workunit{Name: strings.TrimSpace(j.Name), CommandLine: j.CommandLine, Priority: j.Priority, FpopsEst: j.FpopsEst}
		switch {
		case j.InputTemplate != nil || j.OutputTemplate != nil:
			return s, unsupported("a template of a single job", template)
		case j.TargetTeam != 0 || j.TargetUser != 0 || j.TargetHost != 0:
			return s, unsupported("a job for one team, user or computer", "the operator can create it: starling-server work create --host")
		}
		for _, f := range j.Files {
			in := wire.Input{}
			switch f.Mode {
			case "local_staged":
				in.Staged = strings.TrimSpace(f.Source)
			case "inline":
				in.Text = &f.Source
			case "semilocal":
				in.URL, in.Copy = strings.TrimSpace(f.Source), true
			case "remote":
				in.URL, in.NBytes, in.MD5 = strings.TrimSpace(f.URL), int64(min(max(f.NBytes, 0), math.MaxInt32*1e6)), strings.TrimSpace(f.MD5)
			default:
				return s, unsupported(fmt.Sprintf("the mode %q of an input file", f.Mode), "use local_staged after upload_files, inline, semilocal or remote")
			}
			wu.Inputs = append(wu.Inputs, in)
		}
		s.Workunits = append(s.Workunits, wu)
	}
	return s, nil
}

// invented returns a name for a batch without one.
func invented(app string) string {
	return fmt.Sprintf("%.40s_%s", app, strconv.FormatInt(time.Now().UnixNano(), 36))
}

func (c *boincCall) createBatch() error {
	name := strings.TrimSpace(first(c.in.BatchNames))
	appName := strings.TrimSpace(c.in.AppName)
	name = cmp.Or(name, invented(appName))
	if err := named(words.T("batch"), name); err != nil {
		return err
	}
	if err := may(c.token, appName); err != nil {
		return err
	}
	var b store.APIBatch
	err := c.Store.Update(c.http.Context(), func(tx *store.Tx) error {
		app, err := appByName(tx.View, appName)
		if err != nil {
			return err
		}
		b, err = tx.APIBatchByName(c.token.ID, name)
		switch {
		case err == nil && b.Expected == 0 && b.AppID == app.ID && b.RetiredTime.IsZero(): // asked again
			old := b
			b.ExpireTime = protocol.UnixTime(c.in.ExpireTime)
			return tx.SaveAPIBatch(old, b)
		case err == nil:
			return faultf(http.StatusConflict, "choose another name", "there is another batch called %q", name)
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
		b = store.APIBatch{CreateTime: time.Now(), TokenID: c.token.ID, Name: name, AppID: app.ID, ExpireTime: protocol.UnixTime(c.in.ExpireTime)}
		b.ID, err = tx.InsertAPIBatch(b)
		return err
	})
	c.out.Int("batch_id", b.ID)
	return err
}

func (c *boincCall) estimateBatch() error {
	s, err := c.in.Batch.submission()
	if err != nil {
		return err
	}
	s.Name = cmp.Or(s.Name, invented(s.App))
	e, err := c.foresee(c.http.Context(), c.token, &s)
	switch {
	case err != nil:
		return err
	case e.Seconds == nil:
		return faultf(http.StatusServiceUnavailable, "", "%s", e.Text)
	}
	c.out.Float("seconds", *e.Seconds)
	return nil
}

func (c *boincCall) submitBatch() error {
	s, err := c.in.Batch.submission()
	if err != nil {
		return err
	}
	if id := strings.TrimSpace(c.in.Batch.BatchID); id != "" && id != "0" {
		b, err := c.own(c.http.Context(), c.token, id)
		if err != nil {
			return err
		}
		s.Name = b.Name
	}
	s.Name = cmp.Or(s.Name, invented(s.App))
	b, _, err := c.make(c.http.Context(), limit.ClientOf(c.http), c.token, &s)
	c.out.Int("batch_id", b.ID)
	return err
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// asked is the batch that a request names by number, or else by name.
func (c *boincCall) asked() (b store.APIBatch, err error) {
	if id := strings.TrimSpace(c.in.BatchID); id != "" && id != "0" {
		return c.own(c.http.Context(), c.token, id)
	}
	if len(c.in.BatchNames) == 0 {
		return b, faultf(http.StatusBadRequest, "send batch_id or batch_name", "the request names no batch")
	}
	return c.called(c.in.BatchNames[0])
}

func (c *boincCall) called(name string) (b store.APIBatch, err error) {
	b, err = store.Read(c.http.Context(), c.Store, func(tx *store.View) (store.APIBatch, error) {
		return tx.APIBatchByName(c.token.ID, strings.TrimSpace(name))
	})
	if errors.Is(err, store.ErrNotFound) {
		err = faultf(http.StatusNotFound, "query_batches lists those of this authenticator", "there is no batch called %q", name)
	}
	return b, err
}

// States of batches, BOINC's numbers.
const (
	batchInit       = 0
	batchInProgress = 1
	batchComplete   = 2
	batchRetired    = 4
)

// describe writes the known facts about a batch.
func (c *boincCall) describe(b store.APIBatch, estimate bool) error {
	return c.Store.View(c.http.Context(), func(tx *store.View) error {
		s, err := Status(tx, b)
		if err != nil {
			return err
		}
		apps, err := tx.Apps()
		if err != nil {
			return err
		}
		t, err := tx.BatchTimes(b.Number())
		if err != nil {
			return err
		}
		state, completed, end, expires := int64(batchInProgress), int64(0), int64(0), int64(0)
		if !b.ExpireTime.IsZero() {
			expires = b.ExpireTime.Unix()
		}
		switch {
		case s.Retired:
			state = batchRetired
		case s.Done:
			state = batchComplete
		case b.Expected == 0 || !b.Made:
			state = batchInit
		}
		if s.Done && !t.LastReport.IsZero() {
			completed = t.LastReport.Unix()
		}
		if estimate && state == batchInProgress {
			now := time.Now()
			if f, err := forecast.Batch(tx, b.Number(), c.Rules, now); err == nil && f.Known() {
				end = now.Add(f.Left).Unix()
			}
		}
		w := &c.out
		w.Int("id", b.ID)
		w.Int("create_time", b.CreateTime.Unix())
		w.Int("expire_time", expires)
		w.Int("est_completion_time", end)
		w.Int("njobs", int64(b.Expected))
		w.Float("fraction_done", s.Fraction)
		w.Int("nerror_jobs", s.Failed)
		w.Int("state", state)
		w.Int("completion_time", completed)
		w.Float("credit_estimate", 0)
		w.Float("credit_canonical", t.Credit)
		w.Text("name", b.Name)
		for _, a := range apps {
			if a.ID == b.AppID {
				w.Text("app_name", a.Name)
			}
		}
		if c.in.CPUTime != 0 {
			w.Float("total_cpu_time", t.CPUTime)
		}
		return nil
	})
}

func (c *boincCall) queryBatches() error {
	list, err := store.Read(c.http.Context(), c.Store, func(tx *store.View) ([]store.APIBatch, error) { return tx.APIBatches(c.token.ID, newest) })
	for _, b := range list {
		if err != nil {
			return err
		}
		if !b.RetiredTime.IsZero() {
			continue
		}
		c.out.Open("batch")
		err = c.describe(b, false)
		c.out.Close("batch")
	}
	return err
}

func (c *boincCall) abortBatch() error {
	b, err := c.asked()
	if err != nil {
		return err
	}
	if _, err := c.giveUp(c.http.Context(), b); err != nil {
		return err
	}
	return c.success()
}

func (c *boincCall) retireBatch() error {
	b, err := c.asked()
	if err != nil {
		return err
	}
	empty := false
	err = c.Store.Update(c.http.Context(), func(tx *store.Tx) error {
		if b, err = tx.APIBatch(b.ID, b.TokenID); err != nil {
			return err
		}
		if empty = b.Expected == 0; empty {
			return retired(tx, b)
		}
		return nil
	})
	if err == nil && !empty {
		_, err = c.discard(c.http.Context(), b)
	}
	if err != nil {
		return err
	}
	return c.success()
}

// setExpireTime sets the time when a batch is given up and its output deleted. 0 means never.
func (c *boincCall) setExpireTime() error {
	b, err := c.asked()
	if err != nil {
		return err
	}
	err = c.Store.Update(c.http.Context(), func(tx *store.Tx) error {
		return changed(tx, b, func(b *store.APIBatch) { b.ExpireTime = protocol.UnixTime(c.in.ExpireTime) })
	})
	if err != nil {
		return err
	}
	return c.success()
}

// getTemplates sends the templates of an application, or of a job's.
func (c *boincCall) getTemplates() error {
	app := strings.TrimSpace(c.in.AppName)
	err := c.Store.View(c.http.Context(), func(tx *store.View) error {
		if app != "" {
			_, err := appByName(tx, app)
			return err
		}
		wu, _, err := c.job(tx, first(c.in.JobNames))
		if err != nil {
			return err
		}
		apps, err := tx.Apps()
		for _, a := range apps {
			if a.ID == wu.AppID {
				app = a.Name
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := may(c.token, app); err != nil {
		return err
	}
	c.out.Open("templates")
	for _, name := range []string{app + "_in", app + "_out"} {
		text, err := os.ReadFile(filepath.Join(c.Dir, "templates", name))
		if errors.Is(err, os.ErrNotExist) {
			return faultf(http.StatusNotFound, "ask the project's operator to write it", "the application has no template %s", name)
		}
		if err != nil {
			return err
		}
		c.out.Raw(strings.TrimSpace(string(text)) + "\n")
	}
	c.out.Close("templates")
	return nil
}
