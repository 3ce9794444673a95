package protocol_test

import (
	"testing"

	"github.com/starling-grid/starling/protocol"
)

func BenchmarkParseSchedulerRequest(b *testing.B) {
	body := captured(b, "015-scheduler.request.http")["debian-7.20.5/clean/015-scheduler.request.http"]
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := protocol.ParseSchedulerRequest(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeSchedulerReply(b *testing.B) {
	body := captured(b, "01-first-contact-with-work.response.http")["upstream-server/01-first-contact-with-work.response.http"]
	r, err := protocol.ParseSchedulerReply(body)
	must(b, err)
	b.ReportAllocs()
	for b.Loop() {
		r.Encode()
	}
}
