// Package testerr ends tests that cannot continue after an error.
package testerr

import "testing"

// Must ends the test if err is not nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
