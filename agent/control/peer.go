package control

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/user"
	"slices"
	"strconv"

	"github.com/starling-grid/starling/internal/peercred"
	"github.com/starling-grid/starling/internal/words"
)

// A peer is the user at the other end of the socket, as the system reports it.
type peer peercred.Peer

type peerKey struct{}

// notePeer stores the user at the other end of a connection in its context.
func notePeer(ctx context.Context, c net.Conn) context.Context {
	if p, ok := peercred.Of(c); ok {
		return context.WithValue(ctx, peerKey{}, peer(p))
	}
	return ctx
}

// admit lets in root, the agent's own user and the members of group. For others the answer has the
// remedy.
func admit(group string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, known := r.Context().Value(peerKey{}).(peer)
		if !peercred.Known || known && p.may(group) { // elsewhere the socket's mode keeps others out
			next.ServeHTTP(w, r)
			return
		}
		text := words.T("cannot determine which user is asking")
		if known {
			text = p.refusal(group)
		}
		Refuse(w, r, http.StatusForbidden, words.Refuse(text))
	})
}

func (p peer) may(group string) bool {
	return p.UID == 0 || p.UID == os.Geteuid() || group != "" && p.in(group)
}

// in looks into the system's list of groups, so that a new member need not log in again.
func (p peer) in(group string) bool {
	g, err := user.LookupGroup(group)
	if err != nil {
		return false
	}
	if g.Gid == strconv.Itoa(p.GID) {
		return true
	}
	u, err := user.LookupId(strconv.Itoa(p.UID))
	if err != nil {
		return false
	}
	all, err := u.GroupIds()
	return err == nil && slices.Contains(all, g.Gid)
}

func (p peer) refusal(group string) words.Text {
	name := "user " + strconv.Itoa(p.UID)
	if u, err := user.LookupId(strconv.Itoa(p.UID)); err == nil {
		name = u.Username
	}
	if group == "" {
		return words.T("this agent belongs to another user, not to {user}", "user", name)
	}
	return words.T("this computer's agent can be controlled by root and members of the group {group}, and {user} is not a member; "+
		"an administrator can add you, which takes effect at once, with: sudo usermod -aG {group} {user}. To start your own agent: starling run", "group", group, "user", name)
}
