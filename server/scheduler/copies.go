package scheduler

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// orderCopies orders the host to upload the files that it made for workunits reserved for it, if
// those may have to be computed elsewhere. A Publisher makes input files of the uploads. The host
// is called back: if it also gets a workunit that needs the file, the order has to wait for the
// next reply, since a reply describes a file once.
func (r *rpc) orderCopies() error {
	for _, k := range r.look.kept {
		if !r.s.Config.Affinity.Copy(k.reported, r.now, slices.Contains(r.reply.sent, k.ID)) || !strings.Contains(k.XMLDoc, "<generated_locally") {
			continue
		}
		e, err := protocol.ParseElements([]byte(k.XMLDoc))
		if err != nil {
			r.s.Log.Error("input files of a workunit", "workunit", k.WorkunitName, "err", err)
			continue
		}
		for _, f := range e.Files {
			if !f.GeneratedLocally || len(f.DownloadURLs) > 0 || !r.held[f.Name] {
				continue
			}
			if err := r.orderCopy(f.Name, k.RscDiskBound); err != nil {
				return err
			}
		}
	}
	return nil
}

// orderCopy orders the host to upload a file that it made, once, if the file's size in the request
// is at most the size that a task may write.
func (r *rpc) orderCopy(name string, most float64) error {
	i := slices.IndexFunc(r.sticky, func(f store.HostFile) bool { return f.Name == name })
	size := cmp.Or(r.sticky[i].NBytes, most)
	if !(size > 0 && size < math.MaxInt64/2) || most > 0 && size > most {
		return nil
	}
	first, err := r.tx.WantCopy(name, r.host.ID, r.now)
	if err != nil || !first {
		return err
	}
	f := protocol.FileInfo{Name: name, MaxNBytes: int64(size), XMLSignature: r.s.Certify(name, int64(size)), Sticky: true}
	_, err = r.tx.AddFileOrder(store.FileOrder{CreateTime: r.now, HostID: r.host.ID, Action: store.FileGet, Name: name, XML: f.XML()})
	r.ordered = true
	r.callBack(r.s.Config.Affinity.Back())
	return err
}
