package server_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/starling-grid/starling/server/operate"
)

// Of several operators who revoke a token at once, one succeeds, and the others see an error.
func TestATokenIsRevokedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	w.token("lab", nil, 0)
	var mu sync.Mutex
	var wg sync.WaitGroup
	revoked := 0
	for range 8 {
		wg.Go(func() {
			err := operate.RevokeToken(t.Context(), w.p, "lab", w.now())
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				revoked++
			case !strings.Contains(err.Error(), `no token called "lab"`):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if revoked != 1 {
		t.Errorf("revoked %d times", revoked)
	}
}
