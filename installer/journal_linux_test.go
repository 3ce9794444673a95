package installer

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestJournal(t *testing.T) {
	var st unix.Stat_t
	if err := unix.Fstat(int(os.Stderr.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	for stream, want := range map[string]bool{
		"": false, fmt.Sprintf("%d:%d", st.Dev, st.Ino): true,
		fmt.Sprintf("%d:%d", st.Dev, st.Ino+1): false, // inherited from a service, and redirected
	} {
		t.Setenv("JOURNAL_STREAM", stream)
		if got := Journal(); got != want {
			t.Errorf("JOURNAL_STREAM=%s: got %v", stream, got)
		}
	}
}
