package scheduler

import (
	"errors"
	"strings"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

const (
	// maxTricklesDown is the maximum number of messages in one reply. The others are sent with the
	// next.
	maxTricklesDown = 10
	maxVariety      = 250 // bytes
	// The limits on the messages of one result that are stored: a volunteer can make up any number of them.
	maxTricklesUp     = 10_000
	maxTricklesUpSize = 8 << 20
)

// takeTrickles stores messages from running applications to the project. The acknowledgement covers
// all messages of the request. Therefore a message that cannot be of use, or is one too many of its result, is
// dropped rather than left out: the client would repeat it forever. A message that was stored before, because an
// acknowledgement was lost, is not stored again.
func (r *rpc) takeTrickles() error {
	room := make(map[int64]*trickleRoom)
	for _, m := range r.req.Trickles {
		x, err := r.tx.ResultByName(m.ResultName)
		if errors.Is(err, store.ErrNotFound) || err == nil && x.UserID != r.user.ID {
			r.s.Log.Info("trickle-up message dropped: no such result of this account", "result", m.ResultName, "hostid", r.host.ID)
			continue
		}
		if err != nil {
			return err
		}
		words := text(m.Text)
		if room[x.ID] == nil {
			n, size, err := r.tx.SizeOfMsgs(x.ID)
			if err != nil {
				return err
			}
			room[x.ID] = &trickleRoom{maxTricklesUp - n, maxTricklesUpSize - size}
		}
		if !room[x.ID].take(words) {
			r.s.Log.Warn("trickle-up message dropped: the result has sent too many", "result", m.ResultName, "hostid", r.host.ID)
			continue
		}
		_, err = r.tx.AddMsgFromHost(store.MsgFromHost{
			CreateTime: r.now, HostID: r.host.ID, ResultID: x.ID, AppID: x.AppID, ResultName: x.Name,
			SentTime: m.Time, Variety: variety(words), XML: words,
		})
		if err != nil {
			return err
		}
	}
	r.reply.MessageAck = len(r.req.Trickles) > 0
	return nil
}

// trickleRoom is how many messages of a result may still be stored.
type trickleRoom struct{ n, size int64 }

func (t *trickleRoom) take(words string) bool {
	t.n, t.size = t.n-1, t.size-int64(len(words))
	return t.n >= 0 && t.size >= 0
}

// variety returns the kind of message that an application gives. By convention of BOINC's interface
// the text begins with it.
func variety(words string) string {
	v, ok := strings.CutPrefix(strings.TrimSpace(words), "<variety>")
	if !ok {
		return ""
	}
	v, _, ok = strings.Cut(v, "</variety>")
	if !ok || len(v) > maxVariety {
		return ""
	}
	return strings.TrimSpace(v)
}

// sendTrickles sends the project's messages to running applications. A message is sent once: if
// this reply is lost, so is the message, as in BOINC.
func (r *rpc) sendTrickles() error {
	if !r.look.mail {
		return nil
	}
	list, err := r.tx.MsgsToHost(r.host.ID, maxTricklesDown)
	if err != nil {
		return err
	}
	for _, m := range list {
		if err := r.tx.MsgSent(m.ID); err != nil {
			return err
		}
		x, err := r.tx.Result(m.ResultID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err != nil || x.ServerState != store.InProgress || x.HostID != r.host.ID || r.moved(x.ID) {
			continue // too late
		}
		r.reply.TrickleDowns = append(r.reply.TrickleDowns, protocol.Trickle{
			ResultName: m.ResultName, Time: m.CreateTime, Text: strings.TrimRight(m.XML, "\n") + "\n",
		})
	}
	return nil
}
