package api

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strconv"
	"time"

	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/transitioner"
)

func (a *API) status(ctx context.Context, b store.APIBatch) (wire.Batch, error) {
	return store.Read(ctx, a.Store, func(tx *store.View) (wire.Batch, error) { return Status(tx, b) })
}

// Status counts the progress of a batch.
func Status(tx *store.View, b store.APIBatch) (wire.Batch, error) {
	s := wire.Batch{ID: b.ID, Name: b.Name, Created: b.CreateTime.UTC(), Workunits: b.Expected, Retired: !b.RetiredTime.IsZero(), Results: map[string]int64{}}
	st, err := tx.BatchStatus(b.Number())
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return s, err
	}
	s.Succeeded, s.Failed = st.Canonical, st.Error
	if !s.Retired {
		s.Fetchable = st.Assimilate
	}
	if st.Results != nil {
		s.Results = st.Results
	}
	gone := int64(0) // purged: those were done
	if b.Made {
		gone = int64(b.Expected) - st.Total
	}
	s.Expired = gone > 0
	s.Unfinished = int64(b.Expected) - gone - st.Canonical - st.Error
	s.Fraction = float64(st.Assimilate+gone) / float64(max(1, b.Expected))
	s.Done = b.Made && st.Assimilate == st.Total
	if s.Unfinished > 0 {
		s.Held, err = held(tx, b, time.Now())
		return s, err
	}
	return s, nil
}

// own returns a token's batch of this number.
func (a *API) own(ctx context.Context, token store.Token, number string) (b store.APIBatch, err error) {
	id, _ := strconv.ParseInt(number, 10, 64)
	b, err = store.Read(ctx, a.Store, func(tx *store.View) (store.APIBatch, error) { return tx.APIBatch(id, token.ID) })
	if errors.Is(err, store.ErrNotFound) {
		err = faultf(http.StatusNotFound, "GET batches lists those of this token", "this token has no batch %s", number)
	}
	return b, err
}

// batches lists the newest batches of a token, or the one with a name.
func (a *API) batches(c *call) (any, error) {
	var list []store.APIBatch
	err := a.Store.View(c.Context(), func(tx *store.View) (err error) {
		name := c.URL.Query().Get("name")
		if name == "" {
			list, err = tx.APIBatches(c.token.ID, newest)
			return err
		}
		b, err := tx.APIBatchByName(c.token.ID, name)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		list = append(list, b)
		return err
	})
	out := make([]wire.Batch, 0, len(list))
	for _, b := range list {
		if err != nil {
			break
		}
		var s wire.Batch
		s, err = a.status(c.Context(), b)
		out = append(out, s)
	}
	return wire.Batches{Batches: out}, err
}

// number returns a parameter of the query, or 0 without one.
func (c *call) number(name string) (float64, error) {
	text := c.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0 && n <= 1<<53) {
		return 0, faultf(http.StatusBadRequest, "give a number from 0, or leave it out", "%s=%.100s is not a number from 0", name, text)
	}
	return n, nil
}

// look is the interval at which a waiting request looks.
const look = 500 * time.Millisecond

// batch returns the progress of a batch. With wait it answers when that has changed, or after that
// number of seconds.
func (a *API) batch(c *call, b store.APIBatch) (any, error) {
	s, err := a.status(c.Context(), b)
	if err != nil {
		return nil, err
	}
	seconds, err := c.number("wait")
	if err != nil {
		return nil, err
	}
	end := time.Now().Add(min(time.Duration(max(0, seconds)*float64(time.Second)), maxWait))
	for now := s; !s.Done && now.Fetchable == s.Fetchable && now.Unfinished == s.Unfinished && time.Now().Before(end); {
		select {
		case <-time.After(look):
		case <-c.Context().Done():
			return nil, context.Cause(c.Context())
		}
		if s, err = a.status(c.Context(), b); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// workunits lists a batch's workunits with IDs above after, with their results.
func (a *API) workunits(c *call, b store.APIBatch) (any, error) {
	after, err := c.number("after")
	if err != nil {
		return nil, err
	}
	list, err := store.Read(c.Context(), a.Store, func(tx *store.View) ([]store.Workunit, error) {
		return tx.WorkunitsIn(b.Number(), int64(after), listed)
	})
	if err != nil {
		return nil, err
	}
	failures, err := a.failures(c.Context(), list)
	if err != nil {
		return nil, err
	}
	answer := wire.Outcomes{Workunits: make([]wire.Outcome, 0, len(list))}
	for _, wu := range list {
		o := wire.Outcome{Name: wu.Name[len(unique(b, "")):], State: string(wu.State()), Errors: wu.ErrorMask.Reasons(), Credit: wu.CanonicalCredit, Failure: failures[wu.ID]}
		if wu.AssimilateState == store.AssimilateDone {
			if o.Files, err = outputs(a.Outcome(wu)); err != nil {
				return nil, err
			}
		}
		answer.Workunits = append(answer.Workunits, o)
	}
	if len(list) == listed {
		answer.Next = list[len(list)-1].ID
	}
	return answer, nil
}

// outputs returns the files in a finished workunit's folder. The folder does not exist if the
// application hands its outcomes elsewhere.
func outputs(dir string) (list []wire.File, err error) {
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			list = append(list, wire.File{Name: name, Size: info.Size()})
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return list, err
}

// file serves an output file.
func (a *API) file(c *call, b store.APIBatch) (any, error) {
	if err := gone(&wire.Batch{Name: b.Name, Retired: !b.RetiredTime.IsZero()}); err != nil {
		return nil, err
	}
	none := faultf(http.StatusNotFound, "GET …/workunits lists the files that are there", "there is no such file")
	wu, err := store.Read(c.Context(), a.Store, func(tx *store.View) (store.Workunit, error) { return tx.WorkunitByName(unique(b, c.PathValue("name"))) })
	if errors.Is(err, store.ErrNotFound) || err == nil && (wu.Batch != b.Number() || wu.AssimilateState != store.AssimilateDone) {
		return nil, none
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(a.Outcome(wu))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, none
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(c.PathValue("file"))
	if err != nil {
		return nil, none
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return nil, none
	}
	c.w.Header().Set("Content-Type", "application/octet-stream")
	c.w.Header().Set("Content-Disposition", `attachment; filename="`+path.Base(st.Name())+`"`)
	http.ServeContent(c.w, c.Request, "", st.ModTime(), f)
	return nil, nil
}

// cancel gives up the unfinished work of a batch.
func (a *API) cancel(c *call, b store.APIBatch) (any, error) {
	n, err := a.giveUp(c.Context(), b)
	return wire.Cancelled{Cancelled: n}, err
}

func (a *API) giveUp(ctx context.Context, b store.APIBatch) (cancelled int, err error) {
	// This is first, so that a concurrent request stops making workunits.
	empty := false
	if err := a.Store.Update(ctx, func(tx *store.Tx) error {
		now, err := tx.APIBatch(b.ID, b.TokenID)
		if empty = now.Expected == 0; err != nil || empty {
			return err
		}
		return tx.CloseAPIBatch(b.ID)
	}); err != nil || empty {
		return 0, err
	}
	for after := int64(0); ; {
		var ids []int64
		n := 0
		err := a.Store.Update(ctx, func(tx *store.Tx) (err error) {
			n = 0
			if ids, err = tx.WorkunitsOfBatch(b.Number(), after, chunk); err != nil {
				return err
			}
			for _, id := range ids {
				done, err := transitioner.Cancel(tx, id, time.Now())
				if err != nil {
					return err
				}
				if done {
					n++
				}
			}
			return nil
		})
		if err != nil {
			return cancelled, err
		}
		if cancelled += n; len(ids) < chunk {
			break
		}
		after = ids[len(ids)-1]
	}
	return cancelled, nil
}
