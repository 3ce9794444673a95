package api

import (
	"cmp"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/transitioner"
)

// job returns the newest workunit of the token that its sender called so, or whose name in the
// project that is, and its batch.
func (c *boincCall) job(tx *store.View, name string) (wu store.Workunit, b store.APIBatch, err error) {
	name = strings.TrimSpace(name)
	if wu, err = tx.APIWorkunit(c.token.ID, name); err == nil {
		b, err = tx.APIBatchOf(wu.Batch, c.token.ID)
	}
	if errors.Is(err, store.ErrNotFound) {
		err = faultf(http.StatusNotFound, "query_batch lists the jobs of a batch", "there is no job called %q", name)
	}
	return wu, b, err
}

// eachJob calls f for the workunits of a batch.
func eachJob(tx *store.View, b store.APIBatch, f func(wu store.Workunit) error) error {
	for after := int64(0); ; {
		list, err := tx.WorkunitsIn(b.Number(), after, listed)
		if err != nil {
			return err
		}
		for _, wu := range list {
			if err := f(wu); err != nil {
				return err
			}
		}
		if len(list) < listed {
			return nil
		}
		after = list[len(list)-1].ID
	}
}

func given(b store.APIBatch, wu store.Workunit) string { return wu.Name[len(unique(b, "")):] }

func (c *boincCall) queryBatch() error {
	b, err := c.asked()
	if err != nil {
		return err
	}
	if err := c.describe(b, true); err != nil {
		return err
	}
	return c.Store.View(c.http.Context(), func(tx *store.View) error {
		return eachJob(tx, b, func(wu store.Workunit) error {
			w := &c.out
			w.Open("job")
			w.Int("id", wu.ID)
			w.Text("name", given(b, wu))
			w.Int("canonical_instance_id", wu.CanonicalResultID)
			if c.in.JobDetails != 0 {
				if err := c.details(tx, wu); err != nil {
					return err
				}
			}
			w.Close("job")
			return nil
		})
	})
}

// details writes how a job stands.
func (c *boincCall) details(tx *store.View, wu store.Workunit) error {
	for _, reason := range wu.ErrorMask.Reasons() {
		c.out.Text("error", cmp.Or(map[string]string{"could not send": "couldnt_send_result"}[reason], strings.ReplaceAll(reason, " ", "_")))
	}
	results, err := tx.ResultsOf(wu.ID)
	if err != nil {
		return err
	}
	status := "queued"
	for _, r := range results {
		if r.ServerState == store.InProgress {
			status = "in_progress"
		}
		if wu.ErrorMask != 0 && r.Outcome == store.ClientError {
			c.out.Int("exit_status", r.ExitStatus)
		}
		if r.ID == wu.CanonicalResultID {
			c.out.Float("cpu_time", r.CPUTime)
		}
	}
	switch {
	case wu.ErrorMask != 0:
		status = "error"
	case wu.CanonicalResultID != 0:
		status = "done"
	}
	c.out.Text("status", status)
	return nil
}

// queryBatch2 lists the jobs of several batches. It also lists jobs that have not changed since
// min_mod_time, because sending a result is not a change of its job here.
func (c *boincCall) queryBatch2() error {
	c.out.Float("server_time", float64(time.Now().UnixMilli())/1000)
	for _, name := range c.in.BatchNames {
		b, err := c.called(name)
		if err != nil {
			return err
		}
		err = c.Store.View(c.http.Context(), func(tx *store.View) error {
			var jobs bxml.Writer
			n := int64(0)
			err := eachJob(tx, b, func(wu store.Workunit) error {
				status, err := progress(tx, wu)
				n++
				jobs.Open("job")
				jobs.Text("job_name", given(b, wu))
				jobs.Text("status", status)
				jobs.Close("job")
				return err
			})
			c.out.Int("batch_size", n)
			c.out.Raw(string(jobs.Bytes()))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// progress returns the state of a job, in the terms of query_batch2.
func progress(tx *store.View, wu store.Workunit) (string, error) {
	switch {
	case wu.CanonicalResultID != 0:
		return "DONE", nil
	case wu.ErrorMask != 0:
		return "ERROR", nil
	}
	results, err := tx.ResultsOf(wu.ID)
	for _, r := range results {
		if !r.SentTime.IsZero() {
			return "IN_PROGRESS", err
		}
	}
	return "UNSENT", err
}

// queryJob lists the results of a job.
func (c *boincCall) queryJob() error {
	id, _ := strconv.ParseInt(strings.TrimSpace(c.in.JobID), 10, 64)
	return c.Store.View(c.http.Context(), func(tx *store.View) error {
		wu, err := tx.Workunit(id)
		if err == nil {
			_, err = tx.APIBatchOf(wu.Batch, c.token.ID)
		}
		if errors.Is(err, store.ErrNotFound) {
			return faultf(http.StatusNotFound, "query_batch lists the jobs of a batch", "there is no job %s", c.in.JobID)
		}
		if err != nil {
			return err
		}
		results, err := tx.ResultsOf(wu.ID)
		for _, r := range results {
			c.out.Open("instance")
			c.out.Text("name", r.Name)
			c.out.Int("id", r.ID)
			c.out.Text("state", stateOf(r))
			if r.ID == wu.CanonicalResultID && wu.AssimilateState == store.AssimilateDone {
				for _, f := range c.outputsOf(wu, r) {
					if st, err := os.Stat(f); err == nil {
						c.out.Open("outfile")
						c.out.Int("size", st.Size())
						c.out.Close("outfile")
					}
				}
			}
			c.out.Close("instance")
		}
		return err
	})
}

// stateOf is a result's state in BOINC's words for people.
//
// Source: BOINC html/inc/result.inc, state_string.
func stateOf(r store.Result) string {
	switch {
	case r.ServerState == store.Inactive:
		return "Inactive"
	case r.ServerState == store.Unsent:
		return "Unsent"
	case r.ServerState == store.InProgress:
		return "In progress"
	case r.Outcome == store.Success && r.ValidateState == store.Valid:
		return "Completed and validated"
	case r.Outcome == store.Success && r.ValidateState == store.Invalid:
		return "Completed, marked as invalid"
	case r.Outcome == store.Success:
		return "Completed, waiting for validation"
	}
	return r.Outcome.String()
}

// outputsOf are the paths at which the output files of a canonical result are, in the order of
// the output template. One that may be missing may be missing.
func (a *API) outputsOf(wu store.Workunit, r store.Result) (paths []string) {
	refs, err := hook.Outputs(r)
	if err != nil {
		return nil
	}
	for _, ref := range refs {
		paths = append(paths, filepath.Join(a.Outcome(wu), filepath.Base(ref.Logical())))
	}
	return paths
}

func (c *boincCall) queryCompletedJob() error {
	return c.Store.View(c.http.Context(), func(tx *store.View) error {
		wu, _, err := c.job(tx, first(c.in.JobNames))
		if err != nil {
			return err
		}
		results, err := tx.ResultsOf(wu.ID)
		if err != nil {
			return err
		}
		w := &c.out
		w.Open("completed_job")
		w.Int("error_mask", int64(wu.ErrorMask))
		var shown *store.Result
		for i, r := range results {
			switch {
			case r.ID == wu.CanonicalResultID:
				shown = &results[i]
				w.Int("canonical_resultid", r.ID)
			case wu.CanonicalResultID == 0 && r.ServerState == store.Over && !r.ReceivedTime.IsZero():
				shown = &results[i]
			}
		}
		if shown != nil {
			if wu.CanonicalResultID == 0 {
				w.Int("error_resultid", shown.ID)
			}
			w.Int("exit_status", shown.ExitStatus)
			w.Float("elapsed_time", shown.ElapsedTime)
			w.Float("cpu_time", shown.CPUTime)
			w.Text("stderr_out", shown.StderrOut)
		}
		w.Close("completed_job")
		return nil
	})
}

// abortJobs gives up jobs, all or none of them.
func (c *boincCall) abortJobs() error {
	err := c.Store.Update(c.http.Context(), func(tx *store.Tx) error {
		for _, name := range c.in.JobNames {
			wu, _, err := c.job(tx.View, name)
			if err != nil {
				return err
			}
			if _, err := transitioner.Cancel(tx, wu.ID, time.Now()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.success()
}
