// Package client submits work to a project over its HTTP API, tracks its progress and fetches the
// results. docs/api.md describes the API itself.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/api/wire"
)

// A Client asks one project on behalf of one token. It is safe for concurrent use.
type Client struct {
	URL   string // of the project
	Token string
	HTTP  *http.Client // nil: http.DefaultClient
	// Patience is the time for which a request is repeated while the project does not answer or is
	// temporarily unable to. Every request may be repeated: no batch is made twice. 0 means no
	// repetition.
	Patience time.Duration
}

// maxAnswer bounds answers but files, bytes.
const maxAnswer = 64 << 20

// longPoll is the time for which the project is asked to wait for a change.
const longPoll = 60 * time.Second

// Submit asks for a batch. If there is one of that name already, it is completed if need be, and
// returned. A refusal is a *wire.Fault.
func (c *Client) Submit(ctx context.Context, s wire.Submission) (b wire.Batch, err error) {
	body, err := json.Marshal(s)
	if err != nil {
		return b, err
	}
	return b, c.call(ctx, http.MethodPost, "batches", body, &b)
}

// Upload stores a file that batches of the token may name as staged. The content of a name never
// changes. It is not an error to upload the same content again.
func (c *Client) Upload(ctx context.Context, name string, content []byte) error {
	return c.call(ctx, http.MethodPut, "files/"+url.PathEscape(name), content, new(wire.File))
}

// DryRun returns the cost of a batch and the time when it would be done. Nothing is made.
func (c *Client) DryRun(ctx context.Context, s wire.Submission) (e wire.Estimate, err error) {
	body, err := json.Marshal(s)
	if err != nil {
		return e, err
	}
	return e, c.call(ctx, http.MethodPost, "estimate", body, &e)
}

// Estimate returns the time when a batch will be done.
func (c *Client) Estimate(ctx context.Context, id int64) (e wire.Estimate, err error) {
	return e, c.call(ctx, http.MethodGet, fmt.Sprintf("batches/%d/estimate", id), nil, &e)
}

// Limits returns the limits of the token, and the used amounts.
func (c *Client) Limits(ctx context.Context) (t wire.Token, err error) {
	return t, c.call(ctx, http.MethodGet, "token", nil, &t)
}

// DeleteFile deletes an uploaded file that no unfinished workunit needs.
func (c *Client) DeleteFile(ctx context.Context, name string) error {
	return c.call(ctx, http.MethodDelete, "files/"+url.PathEscape(name), nil, new(wire.File))
}

// Batches returns the newest batches of the token, newest first.
func (c *Client) Batches(ctx context.Context) ([]wire.Batch, error) {
	var list wire.Batches
	err := c.call(ctx, http.MethodGet, "batches", nil, &list)
	return list.Batches, err
}

// Batch returns the progress of a batch.
func (c *Client) Batch(ctx context.Context, id int64) (b wire.Batch, err error) {
	return b, c.call(ctx, http.MethodGet, fmt.Sprint("batches/", id), nil, &b)
}

// Wait returns when every workunit of a batch has its outcome. It calls each, if it is not nil,
// with the progress of the batch whenever that has changed.
func (c *Client) Wait(ctx context.Context, id int64, each func(wire.Batch)) (b wire.Batch, err error) {
	path := fmt.Sprint("batches/", id)
	for {
		now := wire.Batch{}
		if err := c.call(ctx, http.MethodGet, path, nil, &now); err != nil {
			return b, err
		}
		if each != nil && (now.Fetchable != b.Fetchable || now.Unfinished != b.Unfinished || b.ID == 0) {
			each(now)
		}
		if b = now; b.Done {
			return b, nil
		}
		path = fmt.Sprintf("batches/%d?wait=%d", id, int(longPoll.Seconds()))
	}
}

// Outcomes calls each with the outcome of every workunit of a batch, in the order in which they
// were made, until it returns an error.
func (c *Client) Outcomes(ctx context.Context, id int64, each func(wire.Outcome) error) error {
	for after := int64(0); ; {
		var part wire.Outcomes
		if err := c.call(ctx, http.MethodGet, fmt.Sprintf("batches/%d/workunits?after=%d", id, after), nil, &part); err != nil {
			return err
		}
		for _, o := range part.Workunits {
			if err := each(o); err != nil {
				return err
			}
		}
		if after = part.Next; after == 0 {
			return nil
		}
	}
}

// Open returns the content of an output file.
func (c *Client) Open(ctx context.Context, id int64, workunit, file string) (io.ReadCloser, error) {
	var parts []string
	for p := range strings.SplitSeq(file, "/") {
		parts = append(parts, url.PathEscape(p))
	}
	res, err := c.send(ctx, http.MethodGet, fmt.Sprintf("batches/%d/workunits/%s/files/%s", id, url.PathEscape(workunit), strings.Join(parts, "/")), nil)
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

// Archive returns the output files of a batch's finished workunits as a ZIP file, NAME/FILE. A
// failed read means that the archive is incomplete.
func (c *Client) Archive(ctx context.Context, id int64) (io.ReadCloser, error) {
	res, err := c.send(ctx, http.MethodGet, fmt.Sprintf("batches/%d/outputs.zip", id), nil)
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

// Cancel gives up the unfinished workunits of a batch and returns their number.
func (c *Client) Cancel(ctx context.Context, id int64) (int, error) {
	var gone wire.Cancelled
	err := c.call(ctx, http.MethodDelete, fmt.Sprint("batches/", id), nil, &gone)
	return gone.Cancelled, err
}

// Retire makes the project delete the output of a batch that is done, and returns the number of
// workunits that had some.
func (c *Client) Retire(ctx context.Context, id int64) (int, error) {
	var gone wire.Retired
	err := c.call(ctx, http.MethodPost, fmt.Sprintf("batches/%d/retire", id), nil, &gone)
	return gone.Deleted, err
}

// call sends a request and decodes the answer.
func (c *Client) call(ctx context.Context, method, path string, body []byte, into any) error {
	res, err := c.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(into); err != nil {
		return fmt.Errorf("%s does not answer as a project does: %w", c.URL, err)
	}
	return nil
}

// send sends a request, repeats it while that may help, and returns an answer that is not a
// refusal.
func (c *Client) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	end := time.Now().Add(c.Patience)
	for pause := time.Second; ; pause = min(2*pause, time.Minute) {
		res, again, err := c.once(ctx, method, path, body)
		if err == nil || !again || ctx.Err() != nil || time.Now().Add(pause).After(end) {
			return res, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// once is send without repetition. again reports whether repeating it may help.
func (c *Client) once(ctx context.Context, method, path string, body []byte) (res *http.Response, again bool, err error) {
	base := strings.TrimSuffix(c.URL, "/") + "/api/v1/"
	req, err := http.NewRequestWithContext(ctx, method, base+path, bytes.NewReader(body))
	if err != nil {
		return nil, false, err
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	if method == http.MethodPost && body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	h := c.HTTP
	if h == nil {
		h = http.DefaultClient
	}
	if res, err = h.Do(req); err != nil {
		return nil, true, err
	}
	if res.StatusCode/100 == 2 {
		return res, false, nil
	}
	answer := res.Body
	defer func() { _ = answer.Close() }()
	again = res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusBadGateway || res.StatusCode == http.StatusGatewayTimeout
	f := new(wire.Fault)
	if json.NewDecoder(io.LimitReader(answer, 1<<20)).Decode(f) == nil && f.Text != "" {
		return nil, again, f
	}
	return nil, again, errors.New(base + " answers " + res.Status + ": is that the project's URL? If it is, the project's server is of a version that does not have this request")
}
