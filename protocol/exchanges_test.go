package protocol_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
)

// Messages about coprocessors, stored files and compressed inputs that earlier versions of
// Starling's agent and server exchanged can still be read.
func TestEarlierExchangesAreRead(t *testing.T) {
	bodies := captured(t, "*scheduler.request.http")
	replies := captured(t, "*scheduler.response.http")
	for n, want := range []struct {
		files   int // stored files in the request
		reports int
		reply   func(r *protocol.SchedulerReply) bool
	}{
		{0, 0, func(r *protocol.SchedulerReply) bool {
			f := find(r.Files, "text_")
			return len(r.Results) == 1 && len(f.GzippedURLs) == 1 && strings.HasSuffix(f.GzippedURLs[0], f.Name+".gz") && f.GzippedNBytes == 134 && f.NBytes == 60000
		}},
		{0, 0, func(r *protocol.SchedulerReply) bool {
			f := find(r.Files, "archive_1")
			return f.Sticky && len(f.DownloadURLs) == 1 && f.NBytes == 5000
		}},
		{1, 1, func(r *protocol.SchedulerReply) bool { return len(r.ResultAcks) == 1 }},
		{1, 0, func(r *protocol.SchedulerReply) bool {
			f := find(r.Files, "archive_1")
			return f.XMLSignature != "" && f.MaxNBytes > 0 && len(f.UploadURLs) == 1 && len(f.DownloadURLs) == 0
		}},
		{1, 0, func(r *protocol.SchedulerReply) bool {
			return len(r.DeleteFiles) == 1 && r.DeleteFiles[0] == "archive_1"
		}},
	} {
		name := fmt.Sprintf("starling/exchanges/%03d-scheduler.", n+1)
		req, err := protocol.ParseSchedulerRequest(bodies[name+"request.http"])
		must(t, err)
		if len(req.Files) != want.files || len(req.Results) != want.reports || len(req.Coprocs) != 1 || req.Coprocs[0].Count != 2 {
			t.Errorf("request %d: files %+v, reports %d, coprocessors %+v", n+1, req.Files, len(req.Results), req.Coprocs)
		}
		reply, err := protocol.ParseSchedulerReply(replies[name+"response.http"])
		must(t, err)
		if !want.reply(reply) {
			t.Errorf("reply %d: %+v", n+1, reply)
		}
	}
}

// find returns the file whose name starts with name.
func find(list []protocol.FileInfo, name string) protocol.FileInfo {
	for _, f := range list {
		if strings.HasPrefix(f.Name, name) {
			return f
		}
	}
	return protocol.FileInfo{}
}
