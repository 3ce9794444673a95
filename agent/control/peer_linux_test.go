package control

import (
	"os"
	"os/user"
	"strconv"
	"strings"
	"testing"
)

func TestWhoMaySteer(t *testing.T) {
	var ids [2]peer
	for i, name := range []string{"daemon", "nobody"} { // every Linux has them
		u, err := user.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		ids[i].UID, _ = strconv.Atoi(u.Uid)
		ids[i].GID, _ = strconv.Atoi(u.Gid)
	}
	member, other := ids[0], ids[1]
	supplementary := peer{member.UID, other.GID} // a member by the list of groups alone
	for _, c := range []struct {
		who   string
		p     peer
		group string
		want  bool
	}{
		{"root", peer{}, "", true},
		{"the agent's user", peer{os.Geteuid(), other.GID}, "", true},
		{"a member", member, "daemon", true},
		{"a member since a moment ago", supplementary, "daemon", true},
		{"a member, where no group counts", member, "", false},
		{"another user", other, "daemon", false},
		{"anybody, where the group is not there", member, "no_such_group", false},
	} {
		if got := c.p.may(c.group); got != c.want {
			t.Errorf("%s: got %v, want %v", c.who, got, c.want)
		}
	}
	if got := other.refusal("starling").String(); !strings.Contains(got, "sudo usermod -aG starling nobody") {
		t.Errorf("a refusal that does not say what to do: %q", got)
	}
}
