package account

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

// A crowd of sign-ups waits behind all log-ins, and its size is limited.
func TestLoginsGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hashing{free: 1}
		busy, err := h.begin(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		order := make(chan string, 2*maxWaiting)
		enter := func(who string, login bool) {
			go func() {
				done, err := h.begin(t.Context(), login)
				if err != nil {
					order <- "refused " + who
					return
				}
				order <- who
				done()
			}()
			synctest.Wait()
		}
		for range maxWaiting {
			enter("signup", false)
		}
		enter("signup", false)
		if got := <-order; got != "refused signup" {
			t.Errorf("one more than fit: %s", got)
		}
		gone, cancel := context.WithCancelCause(t.Context())
		cancel(errors.ErrUnsupported)
		if _, err := h.begin(gone, true); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("who has left gets %v", err)
		}
		enter("login", true)
		busy()
		synctest.Wait()
		var got []string
		for range maxWaiting + 1 {
			got = append(got, <-order)
		}
		if slices.Index(got, "login") != 0 {
			t.Errorf("got %v", got)
		}
		if done, err := h.begin(t.Context(), true); err != nil {
			t.Error(err)
		} else {
			done()
		}
	})
}
