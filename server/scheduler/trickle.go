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
)

// takeTrickles stores messages from running applications to the project. The acknowledgement covers
// all messages of the request. Therefore a message that cannot be of use is dropped rather than
// left out: the client would repeat it forever. A message that was stored before, because an
// acknowledgement was lost, is not stored again.
func (r *rpc) takeTrickles() error {
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
