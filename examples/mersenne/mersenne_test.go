package main

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-grid/starling/internal/testerr"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol/appipc"
)

// TestMain lets the test binary be the application.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "application" {
		main()
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // or each application takes a second to end under -race
	os.Exit(m.Run())
}

// host plays boincapi.App.
type host struct {
	fractions  []float64
	checkpoint func() bool
	yield      func() error
}

func (h *host) Yield() error {
	if h.yield != nil {
		return h.yield()
	}
	return nil
}
func (h *host) FractionDone(f float64) { h.fractions = append(h.fractions, f) }
func (h *host) TimeToCheckpoint() bool { return h.checkpoint != nil && h.checkpoint() }
func (h *host) CheckpointCompleted()   {}

func run(t *testing.T, input string) string {
	t.Helper()
	t.Chdir(t.TempDir())
	lines, err := search([]byte(input), &host{})
	must(t, err)
	return strings.Join(lines, "")
}

// The exponents of the first Mersenne primes, and no others between them.
var primes = []int{2, 3, 5, 7, 13, 17, 19, 31, 61, 89, 107, 127, 521, 607, 1279, 2203, 2281, 3217}

func TestAgainstThePublishedList(t *testing.T) {
	t.Chdir(t.TempDir())
	for p := 2; p <= 1300; p++ {
		lines, err := search(fmt.Append(nil, p), &host{})
		must(t, err)
		if got, want := strings.HasSuffix(lines[0], "is prime!\n"), slices.Contains(primes, p); got != want {
			t.Errorf("%s", lines[0])
		}
	}
	for _, p := range []int{2203, 2281, 3217} {
		if got, want := run(t, fmt.Sprint(p)), fmt.Sprintf("M%d is prime!\n", p); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestLargePrimes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	want := "M4253 is prime!\nM4423 is prime!\nM9689 is prime!\n"
	if got := run(t, "4253\n4423\n9689\n"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// naive is the test as the books have it.
func naive(p int) string {
	m := new(big.Int).Exp(big.NewInt(2), big.NewInt(int64(p)), nil)
	m.Sub(m, big.NewInt(1))
	s := big.NewInt(4)
	for range p - 2 {
		s.Mul(s, s).Sub(s, big.NewInt(2)).Mod(s, m)
	}
	if s.Sign() == 0 {
		return fmt.Sprintf("M%d is prime!\n", p)
	}
	hex := strings.ToUpper(s.Text(16))
	hex = strings.Repeat("0", 16) + hex
	return fmt.Sprintf("M%d is not prime. Res64: %s\n", p, hex[len(hex)-16:])
}

func TestResiduesAreThoseOfTheNaiveMethod(t *testing.T) {
	for _, p := range []int{3, 5, 11, 23, 29, 37, 41, 61, 67, 71, 127, 131, 523, 1277, 2207, 3001} {
		if got, want := run(t, fmt.Sprint(p)), naive(p); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	// 2047 = 23·89: 4, 14, 194, 788, 701, 119, 1877, 240, 282, 1736.
	if got, want := run(t, "11"), "M11 is not prime. Res64: 00000000000006C8\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestInput(t *testing.T) {
	if got, want := run(t, "# two of them\r\n 7 # prime\r\n\r\n15\n"), "M7 is prime!\nM15 has a factor: 7\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for input, want := range map[string]string{
		"":            "in: no exponents",
		"# nothing\n": "in: no exponents",
		"7\nx7\n":     `in:2: "x7" is not an exponent`,
		"1":           `in:1: "1" is not an exponent`,
		"-5":          `in:1: "-5" is not an exponent`,
		"7 11":        `in:1: "7 11" is not an exponent`,
		"99999999999": `in:1: "99999999999" is not an exponent`,
	} {
		if _, err := search([]byte(input), &host{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", input, err, want)
		}
	}
}

func TestProgressNeverFallsAndEndsAtOne(t *testing.T) {
	t.Chdir(t.TempDir())
	var h host
	if _, err := search([]byte("607\n600\n1279\n521\n"), &h); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(h.fractions) || h.fractions[0] != 0 || h.fractions[len(h.fractions)-1] != 1 {
		t.Errorf("fractions go from %v to %v, sorted: %v", h.fractions[0], h.fractions[len(h.fractions)-1], slices.IsSorted(h.fractions))
	}
}

func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pause, err := pauseIn([]string{"mersenne", "--threads", "1", "-pause", "1s", "--device", "0"})
		if err != nil {
			t.Fatal(err)
		}
		begin, stop := time.Now(), errors.New("stop")
		h := unhurried{&host{yield: func() error {
			if time.Since(begin) >= 5*time.Second {
				return stop
			}
			return nil
		}}, pause}
		if _, err := search([]byte("13"), h); !errors.Is(err, stop) || time.Since(begin) != 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
	for _, bad := range [][]string{{"-pause"}, {"-pause", "1"}, {"-pause", "soon", "1s"}} {
		if _, err := pauseIn(append([]string{"mersenne"}, bad...)); err == nil || !strings.Contains(err.Error(), "-pause needs a duration") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

const workload = "521\n607\n611\n613\n127\n"

func TestResumeAtEveryCheckpoint(t *testing.T) {
	want := run(t, workload)
	t.Chdir(t.TempDir())
	stop := errors.New("stop")
	for left := 1; ; left++ {
		// Each run makes 300 steps, saves and is stopped before its next step.
		steps := 0
		h := &host{
			checkpoint: func() bool { steps++; return steps == 300 },
			yield: func() error {
				if steps >= 300 {
					return stop
				}
				return nil
			},
		}
		lines, err := search([]byte(workload), h)
		if errors.Is(err, stop) {
			continue
		}
		must(t, err)
		if got := strings.Join(lines, ""); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if left < 7 {
			t.Errorf("only %d runs", left)
		}
		return
	}
}

func TestBadCheckpointIsIgnored(t *testing.T) {
	want := run(t, workload)
	t.Chdir(t.TempDir())
	c := checkpoint{Input: checksum([]byte(workload)), residue: big.NewInt(5), Iteration: 500}
	must(t, c.save())
	good, err := os.ReadFile(checkpointFile)
	must(t, err)
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 1
		if i%2 == 0 {
			bad = bad[:i]
		}
		must(t, os.WriteFile(checkpointFile, bad, 0o600))
		if got := loadCheckpoint([]byte(workload), []int{521, 607, 611, 613, 127}); got.Iteration != 0 {
			t.Fatalf("damage at %d not noticed", i)
		}
	}
	other := checkpoint{Input: checksum([]byte("7")), Results: []string{"M7 is prime!\n"}}
	must(t, other.save())
	lines, err := search([]byte(workload), &host{})
	if err != nil || strings.Join(lines, "") != want {
		t.Errorf("got %q %v", lines, err)
	}
}

// slot is a working directory as a client makes it, with a checkpoint due all
// the time.
func slot(t *testing.T, input string) string {
	t.Helper()
	dir := t.TempDir()
	d := appipc.DefaultInitData()
	d.ClientPID, d.CheckpointPeriod = os.Getpid(), time.Microsecond
	for name, b := range map[string][]byte{
		appipc.InitDataFile: d.Encode(), appipc.MmapFile: make([]byte, appipc.MmapSize), "in": []byte(input),
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	return dir
}

func application(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe, "application")
	cmd.Dir = dir
	return cmd
}

func TestKilledInTheMiddle(t *testing.T) {
	const input = "521\n607\n1279\n1283\n1289\n"
	want := run(t, input)
	dir := slot(t, input)
	var before string
	for range 4 {
		cmd := application(t, dir)
		must(t, cmd.Start())
		testwait.Until(t, "it to come further than its predecessor", func() bool {
			b, err := os.ReadFile(filepath.Join(dir, checkpointFile))
			return err == nil && string(b) != before
		})
		before = read(dir, checkpointFile)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	d, err := appipc.ParseInitData([]byte(read(dir, appipc.InitDataFile)))
	must(t, err)
	d.CheckpointPeriod = time.Hour
	must(t, os.WriteFile(filepath.Join(dir, appipc.InitDataFile), d.Encode(), 0o600))
	if out, err := application(t, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := read(dir, "out"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBadInputIsAnError(t *testing.T) {
	dir := slot(t, "seven\n")
	out, err := application(t, dir).CombinedOutput()
	if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.ExitCode() != 1 {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(string(out), `in:1: "seven" is not an exponent`) {
		t.Errorf("stderr: %s", out)
	}
}

func read(dir, name string) string {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return "absent"
	}
	return string(b)
}

func BenchmarkStep(b *testing.B) {
	t := newTest(9697, 0, nil) // not prime: its residue never becomes small
	for b.Loop() {
		t.step()
	}
}

var must = testerr.Must
