//go:build !linux

package server_test

import "testing"

// uncache does nothing here, so the first times are with a warm cache.
func uncache(testing.TB, string) {}
