package scheduler

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/affinity"
	"github.com/starling-grid/starling/server/store"
)

const (
	// maxHostFiles bounds how many sticky files are kept on record of a host.
	maxHostFiles = 10_000
	// maxFileOrders bounds the orders in one reply; the others come with the next.
	maxFileOrders = 100
	// fileHere is the status of a file that the host has; 0 is one that it is still to
	// fetch or make, and what is negative is an error.
	fileHere = 1
	// maxKept is how many results kept for a host are looked at in one request.
	maxKept = 100
)

// hold sees which sticky files the host has.
func (r *rpc) hold() {
	r.held = make(map[string]bool, len(r.req.Files))
	for _, f := range r.req.Files {
		if f.Status != fileHere || r.held[f.Name] || len(r.sticky) == maxHostFiles || protocol.ValidFileName(f.Name) != nil {
			continue
		}
		r.held[f.Name] = true
		r.sticky = append(r.sticky, store.HostFile{HostID: r.host.ID, Name: f.Name, NBytes: float64(f.NBytes)})
	}
}

// takeFiles takes in which sticky files the host has. Most requests tell the same
// as the one before, and then nothing is stored.
func (r *rpc) takeFiles() error {
	hash := stickyHash(r.sticky)
	if hash == r.host.StickyHash {
		return nil
	}
	r.host.StickyHash = hash
	return r.tx.SetHostFiles(r.host.ID, r.sticky)
}

// stickyHash returns a number that differs with the files, and 0 for none.
func stickyHash(list []store.HostFile) int64 {
	if len(list) == 0 {
		return 0
	}
	slices.SortFunc(list, func(a, b store.HostFile) int { return strings.Compare(a.Name, b.Name) })
	h := fnv.New64a()
	for _, f := range list {
		_, _ = h.Write([]byte(f.Name))
		_ = binary.Write(h, binary.LittleEndian, f.NBytes)
	}
	hash := int64(1)
	for _, b := range h.Sum(nil)[:7] { // 56 bits are plenty
		hash = hash<<8 | int64(b)
	}
	return hash
}

// orderFiles tells the host what to do with files that belong to no result. An
// order is repeated in each reply until it is seen to be done, so a lost reply
// costs nothing.
//
// BOINC's clients fetch a file when its description has an address to fetch it
// from, keep it when it is sticky, and upload it when there is an address for that.
func (r *rpc) orderFiles() error {
	if r.host.FileOrders == 0 {
		return nil
	}
	orders, err := r.tx.FileOrders(r.host.ID, maxFileOrders)
	if err != nil {
		return err
	}
	for _, o := range orders {
		if r.done(o) {
			if err := r.tx.FileOrderDone(o, r.now); err != nil && !errors.Is(err, store.ErrLost) {
				return err
			}
			continue
		}
		if o.Action == store.FileDelete {
			r.reply.DeleteFiles = append(r.reply.DeleteFiles, o.Name)
			continue
		}
		e, err := protocol.ParseElements([]byte(o.XML))
		if err != nil {
			r.s.Log.Error("file order cannot be sent", "file_order_id", o.ID, "err", err)
			continue
		}
		for i := range e.Files {
			if o.Action == store.FileGet {
				e.Files[i].UploadURLs = []string{r.s.Config.UploadURL}
			} else {
				r.s.setDownload(&e.Files[i])
			}
		}
		r.addFiles(e.Files)
	}
	return nil
}

// done reports whether a host was seen to have followed an order.
func (r *rpc) done(o store.FileOrder) bool {
	switch o.Action {
	case store.FilePut:
		return r.held[o.Name]
	case store.FileDelete:
		return !r.held[o.Name]
	}
	return r.look.uploaded[o.Name]
}

// kept are results that are kept for the host, since it computed the results before them.
func (r *rpc) kept() ([]store.Kept, error) {
	if len(r.held) == 0 {
		return nil, nil
	}
	return r.tx.KeptFor(r.host.ID, maxKept)
}

// stillHolds reports whether the host has the files for which a result is kept for it. If
// not, it is kept no longer.
func (r *rpc) stillHolds(k store.Kept) (bool, error) {
	holds, err := r.holds(k.Predecessor)
	if err != nil || holds {
		return holds, err
	}
	return false, r.tx.DropAffinity(r.host.ID, k.WorkunitID)
}

// holds reports whether the host has all sticky files of a result that it computed.
func (r *rpc) holds(resultID int64) (bool, error) {
	x, err := r.tx.Result(resultID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil // purged
	}
	if err != nil {
		return false, err
	}
	return r.holdsOf(x)
}

// holdsOf is holds, of a result that is known.
func (r *rpc) holdsOf(x store.Result) (bool, error) {
	wu, err := r.tx.Workunit(x.WorkunitID)
	if err != nil {
		return false, err
	}
	names, err := affinity.Files(wu, x)
	if err != nil {
		r.s.Log.Error("sticky files of a result", "err", err)
		return false, nil
	}
	return !slices.ContainsFunc(names, func(n string) bool { return !r.held[n] }), nil
}

// renewReservations keeps for the host what is kept for it and it did not get now, and has
// it come again in time for that, and for what may come after what it reported.
func (r *rpc) renewReservations() error {
	if len(r.held) == 0 || r.s.Config.Affinity.Back() <= 0 {
		return nil
	}
	waits, err := r.chained()
	if err != nil {
		return err
	}
	list, err := r.kept()
	if err != nil {
		return err
	}
	for _, k := range list {
		if slices.Contains(r.reply.sent, k.ID) {
			continue
		}
		x, err := r.tx.Result(k.Predecessor)
		if errors.Is(err, store.ErrNotFound) {
			continue // purged
		}
		if err != nil {
			return err
		}
		if holds, err := r.holdsOf(x); err != nil {
			return err
		} else if !holds {
			continue
		}
		until, renewed := r.s.Config.Affinity.Renewed(k.ReservedUntil, x.ReceivedTime, r.now)
		if renewed {
			if err := r.tx.EndReservation(k.WorkunitID, until); err != nil {
				return err
			}
		}
		waits = waits || until.After(r.now)
	}
	if back := r.s.Config.Affinity.Back(); waits && (r.reply.NextRPCDelay <= 0 || back < r.reply.NextRPCDelay) {
		r.reply.NextRPCDelay = back
	}
	return nil
}

// chained reports whether a workunit comes after one of those of which the host reports a
// result now.
func (r *rpc) chained() (bool, error) {
	if r.reply.took == 0 {
		return false, nil
	}
	var ids []int64
	for i := range r.req.Results {
		if x, known := r.look.named[r.req.Results[i].Name]; known {
			ids = append(ids, x.WorkunitID)
		}
	}
	all, err := r.tx.Workunits(ids)
	if err != nil {
		return false, err
	}
	for _, wu := range all {
		if wu.HasSuccessor {
			return true, nil
		}
	}
	return false, nil
}
