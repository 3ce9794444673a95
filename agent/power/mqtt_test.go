package power

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	mochi "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/hooks/auth"
	"github.com/mochi-mqtt/server/v2/listeners"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/testwait"
)

// The retained message of a topic is read from a real broker.
func TestMQTT(t *testing.T) {
	t.Parallel()
	server := mochi.New(&mochi.Options{InlineClient: true, Logger: slog.New(slog.DiscardHandler)})
	rules := &auth.Ledger{Auth: auth.AuthRules{{Username: "anna", Password: "secret", Allow: true}}, ACL: auth.ACLRules{
		{Username: "anna", Filters: auth.Filters{"home/#": auth.ReadOnly, "closed/#": auth.Deny}},
	}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		err = server.AddHook(new(auth.Hook), &auth.Options{Ledger: rules})
	}
	if err == nil {
		err = server.AddListener(listeners.NewNet("t", l))
	}
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	secure, errTLS := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: web.TLS.Certificates})
	if err = errors.Join(err, errTLS); err == nil {
		err = errors.Join(server.AddListener(listeners.NewNet("tls", secure)), server.Serve())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	for topic, text := range map[string]string{"home/grid": `{"power": 412.5}`, "ä b": "7", "big": strings.Repeat("1", maxText+1<<17), "empty": "no number"} {
		if err := server.Publish(topic, []byte(text), true, 0); err != nil {
			t.Fatal(err)
		}
	}
	host := l.Addr().String()
	r := Reader{TLS: web.Client().Transport.(*http.Transport).TLSClientConfig}
	hostile := func(answer string) string { // a broker with the same answer to all
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = c.Read(make([]byte, 100))
				_, _ = c.Write([]byte(answer))
				t.Cleanup(func() { _ = c.Close() })
			}
		}()
		return "mqtt://" + l.Addr().String() + "/x"
	}
	for _, tt := range []struct {
		name, url, value string
		number           float64
		fault            string
	}{
		{"a number in JSON", "mqtt://anna:secret@" + host + "/home/grid", "power", 412.5, ""},
		{"with TLS", "mqtts://anna:secret@" + secure.Addr().String() + "/home/grid", "power", 412.5, ""},
		{"a topic with odd letters", "mqtt://anna:secret@" + host + "/%C3%A4%20b", "", 7, ""},
		{"not a number", "mqtt://anna:secret@" + host + "/empty", "", 0, `Its source gives "no", which is not a number.`},
		{"a message of 1 MB", "mqtt://anna:secret@" + host + "/big", "", 0, "Its source gives more than 1048576 bytes."},
		{"no message", "mqtt://anna:secret@" + host + "/none", "", 0, "Its broker " + host + " has no message for none. The sender must set the retain flag."},
		{"a wrong password", "mqtt://anna:guess@" + host + "/home/grid", "", 0, "Its broker " + host + " refuses the user name or password."},
		{"a topic that is not for this user", "mqtt://anna:secret@" + host + "/closed/x", "", 0, "Its broker refuses the topic closed/x."},
		{"nobody there", "mqtt://anna:secret@127.0.0.1:1/x", "", 0, "Its broker 127.0.0.1:1 cannot be used: "},
		{"without TLS", "mqtts://anna:secret@" + host + "/x", "", 0, "Its broker " + host + " cannot be used: "},
		{"another protocol", hostile("SSH-2.0-OpenSSH\r\n"), "", 0, "Its broker "},
		{"a packet without end", hostile("\x20\xff\xff\xff\xff\xff"), "", 0, "Its source gives more than"},
		{"a long packet", hostile("\x20\xff\xff\xff\x7f"), "", 0, "Its source gives more than"},
		{"other messages without end", hostile("\x20\x02\x00\x00\x90\x03\x00\x01\x00" + strings.Repeat("\x30\x04\x00\x01y1", 1000)), "", 0, "Its broker sends other messages than those of x."},
		{"silence", hostile(""), "", 0, "Its broker "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			read := func(patience time.Duration) (Reading, error) {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				return r.Read(ctx, settings.Power{URL: tt.url, Value: tt.value})
			}
			var got Reading
			var err error
			switch tt.name {
			case "no message": // unless the broker is too slow
				testwait.Until(t, "the subscription", func() bool {
					got, err = read(time.Second)
					return err == nil || !strings.Contains(err.Error(), "did not answer")
				})
			case "silence", "another protocol":
				got, err = read(time.Second / 2)
			default:
				got, err = read(time.Minute)
			}
			switch {
			case tt.fault == "" && (err != nil || got.Number != tt.number):
				t.Errorf("got %v, %v", got.Number, err)
			case tt.fault != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.fault) || !strings.HasSuffix(err.Error(), ".") || strings.Contains(fmt.Sprint(err), "secret")):
				t.Errorf("got %v; want %s", err, tt.fault)
			}
		})
	}
}

// No packet of a broker breaks the agent, or makes it read for ever.
func FuzzPacket(f *testing.F) {
	f.Add([]byte("\x20\x02\x00\x00\x90\x03\x00\x01\x00\x31\x05\x00\x01x42"))
	f.Add([]byte("\x30\x02\xff\xff"))
	f.Add([]byte("\x32\x03\x00\x01x"))
	f.Fuzz(func(_ *testing.T, text []byte) {
		b := broker{in: bufio.NewReader(bytes.NewReader(text))}
		for {
			if _, err := b.read(); err != nil {
				return
			}
		}
	})
}
