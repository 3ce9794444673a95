package namedmem_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/starling-grid/starling/internal/namedmem"
)

func TestTwoViewsOfOneMemory(t *testing.T) {
	name := fmt.Sprintf("starling_test_%d", os.Getpid())
	if _, err := namedmem.Open(name, 8192); err == nil {
		t.Error("memory was opened that nobody made")
	}
	a, err := namedmem.Create(name, 8192)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := namedmem.Create(name, 8192); !errors.Is(err, namedmem.ErrExists) {
		t.Errorf("made twice: got %v, want ErrExists", err)
	}
	b, err := namedmem.Open(name, 8192)
	if err != nil {
		t.Fatal(err)
	}
	a.Bytes()[8191] = 7
	if got := b.Bytes()[8191]; got != 7 || b.Bytes()[0] != 0 {
		t.Errorf("got %d, want 7 after zeros", got)
	}
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Error(err)
	}
	if c, err := namedmem.Create(name, 8192); err != nil {
		t.Errorf("the name is still in use: %v", err)
	} else if c.Bytes()[8191] != 0 {
		t.Error("new memory holds what the old one did")
	}
}
