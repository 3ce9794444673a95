package schedulerop

import (
	"context"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/starling-grid/starling/protocol"
)

// Bounds on a feed.
const (
	maxFeed  = 1 << 20 // bytes
	feedTime = time.Minute
)

// Feed reads a feed of a project's news. Its address, which may contain secrets of this volunteer,
// is not in the error.
func (c *Client) Feed(ctx context.Context, u string) ([]protocol.NewsItem, error) {
	ctx, cancel := context.WithTimeout(ctx, feedTime)
	defer cancel()
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return nil, plain(err)
	}
	b, _, err := c.do(req, maxFeed)
	if err != nil {
		return nil, err
	}
	items, err := protocol.ParseFeed(b)
	if err != nil {
		return nil, unusable(err, b)
	}
	return items, nil
}
