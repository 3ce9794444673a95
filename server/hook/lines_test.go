package hook_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/hook"
)

// lines is a long-running program. It answers {"do": …} with the number of lines it has read and
// its process's ID. On request it answers with nonsense, nothing or too much, and then it ends or
// hangs.
func lines() {
	n := 0
	for s := bufio.NewScanner(os.Stdin); s.Scan(); {
		var q struct{ Do string }
		if err := json.Unmarshal(s.Bytes(), &q); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		n++
		switch q.Do {
		case "hang":
			<-time.After(time.Hour) // with an empty select, Go may report a deadlock
		case "crash":
			fmt.Fprintln(os.Stderr, "out of luck")
			os.Exit(3)
		case "flood":
			fmt.Print(strings.Repeat(" ", 2<<20))
		case "part":
			fmt.Print(`{"n"`)
			os.Exit(0)
		case "nonsense":
			fmt.Println("yes")
		case "two":
			fmt.Println("{} {}")
		case "two lines":
			fmt.Println("{}\n{}")
		case "bye":
			fmt.Printf("{\"n\": %d, \"pid\": %d}\n", n, os.Getpid())
			os.Exit(0)
		default:
			fmt.Printf("{\"n\": %d, \"pid\": %d}\n", n, os.Getpid())
		}
	}
}

type counted struct{ N, PID int }

func onLines(t *testing.T) (c hook.Command, ask func(do string) (counted, error)) {
	t.Helper()
	t.Setenv("HOOK", "lines")
	c = self(t)
	c.Pool, c.Timeout = new(hook.Pool), time.Minute
	t.Cleanup(c.Pool.Close)
	return c, func(do string) (out counted, err error) {
		err = c.Run(t.Context(), map[string]string{"do": do}, &out)
		return out, err
	}
}

// One program answers one question after the other.
func TestLines(t *testing.T) {
	_, ask := onLines(t)
	first, err := ask("")
	if err != nil || first.N != 1 {
		t.Fatalf("got %+v, %v", first, err)
	}
	for want := 2; want < 10; want++ {
		if got, err := ask(""); err != nil || got.N != want || got.PID != first.PID {
			t.Errorf("got %+v, %v, want the %d. answer of %d", got, err, want, first.PID)
		}
	}
}

// A program that does not answer correctly is replaced, and the error quotes its error output.
func TestLinesThatGoWrong(t *testing.T) {
	_, ask := onLines(t)
	for _, tt := range []struct{ do, want string }{
		{"crash", "it ended without an answer: EOF (stderr: out of luck)"},
		{"flood", "more than 1048576 bytes"},
		{"part", "not a whole line"},
		{"nonsense", "its answer: invalid character"},
		{"two", "its answer is followed by more data"},
		{"two lines", "its answer is followed by more data"},
	} {
		before, err := ask("")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ask(tt.do); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %+v, %v, want %s", tt.do, got, err, tt.want)
		}
		if after, err := ask(""); err != nil || after.N != 1 || after.PID == before.PID {
			t.Errorf("after %s: got %+v, %v", tt.do, after, err)
		}
	}
}

// A program that has ended since the last question is started again, which the caller does not
// notice.
func TestLinesThatEndInBetween(t *testing.T) {
	_, ask := onLines(t)
	last, err := ask("bye")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ask(""); err != nil || got.N != 1 || got.PID == last.PID {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A program that hangs is killed after its time, or when its answer is no longer wanted.
func TestLinesThatHang(t *testing.T) {
	c, _ := onLines(t)
	c.Timeout = 50 * time.Millisecond
	if err := c.Run(t.Context(), map[string]string{"do": "hang"}, new(counted)); err == nil || !strings.Contains(err.Error(), "it ran for more than 50ms") {
		t.Errorf("got %v", err)
	}
	c.Timeout = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.Run(ctx, map[string]string{"do": "hang"}, new(counted)); err == nil || !strings.Contains(err.Error(), "deadline") {
		t.Errorf("got %v", err)
	}
}

// Several are asked at a time, each by one.
func TestLinesAtOnce(t *testing.T) {
	_, ask := onLines(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				if _, err := ask(""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
