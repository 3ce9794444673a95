package modeltest

import (
	"slices"
	"time"

	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/transitioner"
)

// unsent returns a result to send of each kind.
func (w *world) unsent(tx *store.View) (list []store.Candidate, err error) {
	kinds, err := tx.UnsentKinds()
	if err != nil {
		return nil, err
	}
	some := false
	if err := tx.Ask(store.Targeted(func(int64) { some = true })); err != nil {
		return nil, err
	}
	if some {
		for _, name := range w.names {
			if t := w.wus[name].target; t != (store.Target{}) {
				if err := tx.Ask(store.UnsentKindsFor(t, func(kind int64) { kinds = append(kinds, kind) })); err != nil {
					return nil, err
				}
			}
		}
		slices.Sort(kinds)
		kinds = slices.Compact(kinds)
	}
	for _, k := range kinds {
		head, err := tx.Unsent(k, store.First, 1, store.Slice{})
		if err != nil {
			return nil, err
		}
		list = append(list, head...)
	}
	return list, nil
}

// help makes large, well-behaved computers take the work that is left: new computers of new users,
// or those that the work is for. If there is no version for them, the operator publishes one. The
// operator cancels work that can never be sent. help reports whether any of the work was sent.
func (w *world) help(list []store.Candidate) bool {
	before := w.sends
	var asked []*machine
	for i := range list {
		c := &list[i]
		m := w.helper(c)
		if m == nil {
			w.cancelOne(w.wus[c.WorkunitName])
			continue
		}
		switch c.Target.Type {
		case store.TargetHost:
			w.byHost(c.Target.ID, m)
		case store.TargetUser:
			i := slices.IndexFunc(w.users, func(u *user) bool { return u.id == c.Target.ID })
			w.byNew(w.users[i], m)
		case store.TargetTeam:
			w.byNew(w.trust(w.join(w.addUser()), c.Suspicious), m)
		default:
			if c.Suspicious {
				w.byNew(w.trust(w.addUser(), true), m)
			} else if !slices.Contains(asked, m) {
				w.byNew(w.addUser(), m)
				asked = append(asked, m)
			}
		}
	}
	return w.sends > before
}

// helper returns the kind of computers that can have a result, or nil.
func (w *world) helper(c *store.Candidate) *machine {
	a := w.appOf(c.AppID)
	var able []*machine // by their class
	for i := range machines {
		m := &machines[i]
		if a.hr == 0 || m.class(a) != "" && (c.HRClass == 0 || w.codes[c.HRClass] == m.class(a)) {
			able = append(able, m)
		}
	}
	if c.Target.Type == store.TargetHost {
		if m := w.kindOf(c.Target.ID); m != nil { // its programs may be exchanged, itself not
			able = slices.DeleteFunc(able, func(o *machine) bool { return o != m })
		}
	}
	if len(able) == 0 {
		return nil
	}
	bound := w.version(c.AppVersionID)
	for _, m := range able {
		// The version to which it is committed may be the only one of its platform, and for GPUs.
		if bound == nil || bound.gone {
			if m.serves(a) {
				return m
			}
		} else if slices.Contains(m.platforms, bound.platform) {
			return m
		}
	}
	w.publish(a, able[0].platforms[0], "")
	return able[0]
}

// kindOf returns the kind of a host by its id, nil if it is not known any more.
func (w *world) kindOf(id int64) *machine {
	for _, h := range w.hosts {
		if h.id == id {
			return h.machine
		}
	}
	return nil
}

// byNew makes a new host take and do all the work that it can.
func (w *world) byNew(u *user, m *machine) {
	h := w.addHost(u, manner{})
	h.machine, h.size = m, large
	w.finish(h)
}

// byHost does the same with a host that there is.
func (w *world) byHost(id int64, m *machine) {
	for _, h := range w.hosts {
		if h.id == id {
			old := *h
			h.m, h.size = manner{}, large
			w.finish(h)
			h.m, h.size = old.m, old.size
			return
		}
	}
	var row store.Host
	w.view(func(tx *store.View) (err error) { row, err = tx.Host(id); return err })
	i := slices.IndexFunc(w.users, func(u *user) bool { return u.id == row.UserID })
	h := w.addHost(w.users[i], manner{})
	h.machine, h.size, h.id, h.seqno = m, large, id, row.RPCSeqno+1
	w.finish(h)
}

// finish makes a good host take and do all the work that it can.
func (w *world) finish(h *host) {
	for range 3 {
		w.rpc(h, 1e6)
		for range 4 * len(h.have) {
			w.compute(h)
		}
		w.now = w.now.Add(10 * time.Second)
	}
	w.rpc(h, 0)
}

func (w *world) cancelOne(k *truth) {
	w.update(func(tx *store.Tx) error {
		_, err := transitioner.Cancel(tx, k.id, w.now)
		return err
	})
}
