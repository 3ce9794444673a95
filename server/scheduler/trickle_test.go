package scheduler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// A volunteer cannot fill the database with messages of one result.
func TestMessagesOfOneResult(t *testing.T) {
	w := newWorld(t)
	w.addWork("a", 1)
	host := w.first().HostID
	const each, requests = 100, 3
	for n := range requests {
		var b strings.Builder
		for i := range each {
			fmt.Fprintf(&b, "<msg_from_host>\n<result_name>a_0</result_name>\n<time>%d</time>\n%s\n</msg_from_host>\n", n*each+i+1, strings.Repeat("x", 60_000))
		}
		w.now = w.now.Add(time.Minute)
		w.as(host, n+1, "15-too-soon-asks-work", "</scheduler_request>", b.String()+"</scheduler_request>")
	}
	kept, size := 0, 0
	w.update(func(tx *store.Tx) error {
		for after := int64(0); ; {
			list, err := tx.MsgsFromHost(after, 100)
			if err != nil || len(list) == 0 {
				return err
			}
			for _, m := range list {
				kept, size, after = kept+1, size+len(m.XML), m.ID
			}
		}
	})
	if size > 8<<20 || kept < 100 {
		t.Errorf("%d messages with %d bytes of one result are stored", kept, size)
	}
}
