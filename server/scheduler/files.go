package scheduler

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

const (
	// maxHostFiles is the maximum number of sticky files that are kept on record for a host.
	maxHostFiles = 10_000
	// maxFileOrders is the maximum number of orders in one reply. The others are sent with the
	// next.
	maxFileOrders = 100
	// fileHere is the status of a file that the host has. The status 0 is for a file that it still
	// has to fetch or make, and a negative status is an error.
	fileHere = 1
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

// takeFiles records the sticky files that the host has. Most requests list the same files as the
// one before, and then nothing is stored.
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

// orderFiles adds orders for files that belong to no result. An order is repeated in each reply
// until a request shows that it was carried out, so a lost reply does no harm.
//
// BOINC's clients fetch a file when its description has an address to fetch it from, keep it when
// it is sticky, and upload it when there is an address for that.
func (r *rpc) orderFiles() error {
	if r.host.FileOrders == 0 && !r.ordered {
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
		if status := r.failed(o.Name); status != o.Status {
			if err := r.tx.FileOrderFails(o.ID, status); err != nil {
				return err
			}
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

// failed returns BOINC's error number for a file that the host could not get, or 0 if the request
// has none.
func (r *rpc) failed(name string) int64 {
	for _, f := range r.req.Files {
		if f.Name == name {
			return min(int64(f.Status), 0)
		}
	}
	return 0
}
