package schedulerop

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol"
)

const (
	// maxEvents is the maximum size of the data on a connection before it announces work: some
	// comments a minute, for a day.
	maxEvents = 64 << 10
	// greeting is the least time that a server has to answer.
	greeting = 30 * time.Second
)

var (
	errSilent = errors.New("no sign of life in time")
	errEvents = errors.New("the reply is no stream of events")
	errFlood  = fmt.Errorf("more than %d bytes without news of work", maxEvents)
)

// AwaitWork waits until a project announces new work to a host, and then returns nil. It returns an
// error as soon as the connection is of no use. The caller makes sure that it is not made too
// often.
func (c *Client) AwaitWork(ctx context.Context, e protocol.WorkEvents, host int64, key protocol.Authenticator) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := max(greeting, e.Heartbeat*5/2)
	watchdog := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer watchdog.Stop()
	err := c.awaitWork(ctx, e, host, key, func() { watchdog.Reset(silence) })
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (c *Client) awaitWork(ctx context.Context, e protocol.WorkEvents, host int64, key protocol.Authenticator, alive func()) error {
	u, err := url.Parse(e.URL)
	if err != nil {
		return plain(err)
	}
	q := u.Query()
	q.Set("hostid", strconv.FormatInt(host, 10))
	q.Set("mark", e.Mark)
	u.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return plain(err)
	}
	req.Header.Set("User-Agent", c.UserAgent)
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Authorization", "Bearer "+string(key))
	client := *c.HTTP.HTTPClient
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the key is for this server
	resp, err := client.Do(req)
	if err != nil {
		return plain(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return &StatusError{resp.StatusCode}
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "text/event-stream" {
		return errEvents
	}
	return readEvents(resp.Body, alive)
}

// readEvents reads until there is work.
func readEvents(body io.Reader, alive func()) error {
	in := &io.LimitedReader{R: body, N: maxEvents}
	lines := bufio.NewReaderSize(in, 512)
	work := false
	for {
		line, err := lines.ReadSlice('\n')
		switch {
		case in.N <= 0 || errors.Is(err, bufio.ErrBufferFull):
			return errFlood
		case err != nil:
			return fmt.Errorf("%w: %w", errCut, err)
		}
		alive()
		switch text := strings.TrimRight(string(line), "\r\n"); {
		case text == "" && work:
			return nil
		case text == "":
		case text == "event: work" || text == "event:work":
			work = true
		}
	}
}
