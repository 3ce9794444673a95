package hook_test

import (
	"testing"

	"github.com/starling-grid/starling/server/hook"
)

func FuzzSplit(f *testing.F) {
	f.Add(`program -a "b c" 'd' e\ f`)
	f.Fuzz(func(_ *testing.T, line string) { _, _ = hook.Split(line) })
}
