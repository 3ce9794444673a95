package scheduler_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/scheduler"
	"github.com/starling-grid/starling/server/store/storetest"
)

// fuzzed is a scheduler with an account, for requests that are not to break it.
func fuzzed(f *testing.F) (*scheduler.Scheduler, storetest.World) {
	f.Helper()
	st := storetest.Open(f, "")
	w := storetest.Fill(f, st)
	c := scheduler.Config{Name: "Fuzz", MasterURL: "http://127.0.0.1/"}
	c.ResendLostResults, c.SendResultAbort, c.AnonymousPlatform = true, true, true
	return &scheduler.Scheduler{Store: st, Log: slog.New(slog.DiscardHandler), Config: c}, w
}

// Any request with an account's key gets an answer that clients can read.
func FuzzHandle(f *testing.F) {
	s, w := fuzzed(f)
	names, err := filepath.Glob(captures + "*.request.xml")
	if err != nil || len(names) == 0 {
		f.Fatalf("%d captures, %v", len(names), err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		must(f, err)
		f.Add(string(b))
		f.Add(strings.NewReplacer("<platform_name>"+linux, "<platform_name>anonymous", "<app_versions>", "<app_versions>"+ownVersion).Replace(string(b)))
	}
	f.Fuzz(func(t *testing.T, body string) {
		// The key is placed first, as the rest may contain half an element.
		body = strings.Replace(body, "<scheduler_request>", fmt.Sprintf("<scheduler_request><authenticator>%s</authenticator>", w.User.Authenticator), 1)
		reply, err := s.Handle(t.Context(), []byte(body), "192.0.2.1", storetest.T0)
		must(t, err)
		if _, err := protocol.ParseSchedulerReply(reply.Encode()); err != nil {
			t.Errorf("%v in %s", err, reply.Encode())
		}
	})
}

// A message of an application is taken, whatever it holds.
func FuzzTrickle(f *testing.F) {
	s, w := fuzzed(f)
	f.Add("<result_name>r</result_name>\n<time>1</time>\n<variety>v</variety>\n<text>hello</text>\n")
	f.Fuzz(func(t *testing.T, words string) {
		body := fmt.Sprintf("<scheduler_request><authenticator>%s</authenticator><msg_from_host>%s</msg_from_host></scheduler_request>", w.User.Authenticator, words)
		reply, err := s.Handle(t.Context(), []byte(body), "192.0.2.1", storetest.T0)
		must(t, err)
		_ = reply.Encode()
	})
}
