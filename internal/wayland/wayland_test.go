package wayland

import (
	"bytes"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A compositor is the other end of a connection, with a script.
type compositor struct {
	t    *testing.T
	conn net.Conn
}

// events sends messages.
func (c compositor) events(all ...message) {
	for _, m := range all {
		if _, err := c.conn.Write(m.bytes()); err != nil {
			return // the client has ended the connection
		}
	}
}

// request reads the next one.
func (c compositor) request() message {
	var buf [maxMessage]byte
	m, err := read(c.conn, &buf)
	if err != nil {
		c.t.Error(err)
	}
	m.body = bytes.Clone(m.body)
	return m
}

func offer(name uint32, kind string, version uint32) message {
	return message{registry, global, number(text(number(nil, name), kind), version)}
}

// watched has a client meet a compositor that offers something, and the test play with it.
func watched(t *testing.T, offers []message, play func(compositor, *Monitor, error, *int)) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		c := compositor{t, there}
		requests := make(chan message, 100)
		go func() {
			c.request() // get_registry
			c.request() // sync
			c.events(offers...)
			c.events(message{callback, 0, number(nil, 1)})
			var buf [maxMessage]byte
			for {
				m, err := read(there, &buf)
				if err != nil {
					return
				}
				m.body = bytes.Clone(m.body)
				requests <- m
			}
		}()
		returned := 0
		w, err := Watch(here, func() { returned++ })
		play(c, w, err, &returned)
		_ = there.Close()
		synctest.Wait()
	})
}

var usual = []message{offer(1, "wl_compositor", 5), offer(2, "ext_idle_notifier_v1", 1), offer(3, "wl_seat", 8), offer(9, "wl_seat", 8)}

// The events of a notification.
func idled(id uint32) message   { return message{id, 0, nil} }
func resumed(id uint32) message { return message{id, 1, nil} }

// The objects of the seats are numbered after the notifier. Each seat has an object and a
// notification.
const first, second = notifier + 2, notifier + 4

// The time without input is counted from the compositor's report that people are away.
func TestIdleTime(t *testing.T) {
	watched(t, usual, func(c compositor, w *Monitor, err error, returned *int) {
		if err != nil {
			t.Fatal(err)
		}
		expect := func(what string, want time.Duration, returns int) {
			t.Helper()
			synctest.Wait()
			if got, err := w.Idle(time.Now()); got != want || err != nil || *returned != returns {
				t.Errorf("%s: got %v, %v, %d returns, want %v and %d", what, got, err, *returned, want, returns)
			}
		}
		expect("at the start", 0, 0)
		c.events(idled(first))
		expect("one of two seats is idle", 0, 0)
		c.events(idled(second))
		expect("both are", threshold, 0)
		time.Sleep(time.Minute)
		expect("a minute later", threshold+time.Minute, 0)
		c.events(resumed(second))
		expect("somebody is back", 0, 1)
		c.events(message{registry, globalRemove, number(nil, 9)})
		expect("and unplugs that seat", threshold+time.Minute, 1)
		c.events(offer(12, "wl_seat", 8))
		expect("a new seat", 0, 1)
		c.events(idled(notifier+6), idled(500), message{first - 1, 0, number(nil, 3)})
		expect("which is idle", threshold, 1)
		_ = c.conn.Close()
		synctest.Wait()
		if _, err := w.Idle(time.Now()); err == nil || *returned != 2 {
			t.Errorf("after the end: %v, %d returns", err, *returned)
		}
	})
}

// A missing interface and a compositor's complaint are errors.
func TestCompositorsThatDoNotHelp(t *testing.T) {
	complaint := message{display, fault, text(number(number(nil, 2), 3), "no")}
	for name, tt := range map[string]struct {
		offers []message
		want   string
	}{
		"without the protocol":   {usual[:1], ErrNoNotifier.Error()},
		"that refuses":           {[]message{complaint}, `error 3: "no"`},
		"that complains of air":  {[]message{{display, fault, nil}}, errMalformed.Error()},
		"with half an offer":     {[]message{{registry, global, number(nil, 1)}}, errMalformed.Error()},
		"with an endless string": {[]message{{registry, global, number(number(nil, 1), 1<<31)}}, errMalformed.Error()},
	} {
		watched(t, tt.offers, func(_ compositor, _ *Monitor, err error, _ *int) {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("a compositor %s: got %v, want %s", name, err, tt.want)
			}
		})
	}
	watched(t, usual[:2], func(_ compositor, w *Monitor, err error, _ *int) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Idle(time.Now()); err == nil {
			t.Error("without a seat there is an idle time")
		}
	})
}

// A compositor that does not answer is given up.
func TestASilentCompositor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		defer there.Close()
		begin := time.Now()
		if _, err := Watch(here, func() {}); err == nil || time.Since(begin) > patience {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

// No stream of a compositor breaks the client.
func FuzzStream(f *testing.F) {
	var stream []byte
	for _, m := range append(usual, message{callback, 0, number(nil, 1)}, idled(first), resumed(first)) {
		stream = append(stream, m.bytes()...)
	}
	f.Add(stream)
	f.Add(message{display, fault, text(number(number(nil, 2), 3), "no")}.bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		here, there := net.Pipe()
		go func() {
			var buf [maxMessage]byte
			for range 2 {
				_, _ = read(there, &buf)
			}
			go func() { // the client's requests are discarded
				for {
					if _, err := read(there, &buf); err != nil {
						return
					}
				}
			}()
			_, _ = there.Write(b)
			_ = there.Close()
		}()
		ended := make(chan struct{}, 1+len(b)/header)
		w, err := Watch(here, func() { ended <- struct{}{} })
		if err != nil {
			return
		}
		for err == nil {
			<-ended
			_, err = w.Idle(time.Now())
			if errors.Is(err, ErrNoNotifier) {
				t.Error(err)
			}
		}
	})
}
