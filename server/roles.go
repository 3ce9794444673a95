package server

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/server/store"
)

// Roles are the parts of a server, which may run in separate processes: first those that answer
// requests, then the daemons in the order in which they process a workunit.
var Roles = []string{
	"web", "scheduler", "upload",
	"transitioner", "validator", "assimilator", "trickler", "filedeleter", "purger",
}

// A Part is the share of a project's work that one process does. The zero Part is all of it.
type Part struct {
	Roles []string // none: all
	// Shard divides the work of the daemons between processes of one role. Every index must be
	// served, or the work that belongs to it waits. Schedulers and upload handlers answer all
	// requests, whatever their shard.
	Shard store.Shard
}

func (p Part) has(role string) bool { return len(p.Roles) == 0 || slices.Contains(p.Roles, role) }

// Answers reports whether the part answers requests.
func (p Part) Answers() bool { return p.has("web") || p.has("scheduler") || p.has("upload") }

// ParseRoles reads names separated by commas. The empty string means all roles.
func ParseRoles(s string) ([]string, error) {
	if s == "" {
		return nil, nil
	}
	roles := strings.Split(s, ",")
	for _, r := range roles {
		if !slices.Contains(Roles, r) {
			return nil, fmt.Errorf("unknown role %q; the roles are %s", r, strings.Join(Roles, ","))
		}
	}
	return roles, nil
}

// ParseShard reads I/N, the shard I of N, from 0/N to N-1/N. The empty string means all workunits.
func ParseShard(s string) (store.Shard, error) {
	if s == "" {
		return store.Shard{}, nil
	}
	i, n, _ := strings.Cut(s, "/")
	index, err := strconv.ParseInt(i, 10, 32)
	count, err2 := strconv.ParseInt(n, 10, 32)
	if err != nil || err2 != nil || index < 0 || index >= count {
		return store.Shard{}, fmt.Errorf("shard %q, want I/N with I from 0 to N-1", s)
	}
	return store.Shard{Index: index, Count: count}, nil
}
