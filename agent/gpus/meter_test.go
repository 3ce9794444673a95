package gpus_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/resource"
)

// watch plays a starling-detect that reads sensors. It notes that it was started.
func watch(how string) {
	how, note, _ := strings.Cut(how, "|")
	f, err := os.OpenFile(note, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, "started")
	}
	if err != nil {
		os.Exit(1)
	}
	if how == "crashes" {
		os.Exit(3)
	}
	line, _ := gpus.Reply{Readings: []gpus.Reading{{Kind: "NVIDIA", PCI: "p", Celsius: 60}}}.Line()
	fmt.Printf("the driver says hello%s", line)
	if how == "hangs" {
		parent := os.Getppid() // which this program does not outlive for long
		_ = testwait.Poll(context.Background(), func() error {
			if os.Getppid() == parent {
				return errors.New("the test still runs")
			}
			return nil
		})
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// meter returns a Meter with a starling-detect that the test plays, and how often that was started.
func meter(t *testing.T, how string) (m *gpus.Meter, starts func() int) {
	t.Helper()
	t.Setenv("HOST_SYS", t.TempDir())
	note := filepath.Join(t.TempDir(), "note")
	return &gpus.Meter{Detector: gpus.Detector{Program: os.Args[0], Args: []string{"detect", how + "|" + note}}}, func() int {
		text, _ := os.ReadFile(note)
		return strings.Count(string(text), "started")
	}
}

// until reads every now and then, at a time that the test makes up, until that is so.
func until(t *testing.T, m *gpus.Meter, now time.Time, nvidia bool, is func([]gpus.Reading) bool) {
	t.Helper()
	testwait.Try(t, t.Context(), "a reading", func() error {
		if got := m.Read(t.Context(), now, nvidia); !is(got) {
			return fmt.Errorf("got %+v", got)
		}
		return nil
	})
}

func one(all []gpus.Reading) bool  { return len(all) == 1 && all[0].Celsius == 60 }
func none(all []gpus.Reading) bool { return len(all) == 0 }

func TestAMeterKeepsOneChild(t *testing.T) {
	m, starts := meter(t, "reads")
	now := time.Now()
	until(t, m, now, true, one)
	until(t, m, now.Add(30*time.Second), true, one)
	if n := starts(); n != 1 {
		t.Errorf("it was started %d times", n)
	}
	until(t, m, now, false, none)
}

// A child that crashes, or stops printing, is started again after a while and not before.
func TestAMeterWhoseChildFails(t *testing.T) {
	for _, how := range []string{"crashes", "hangs"} {
		t.Run(how, func(t *testing.T) {
			m, starts := meter(t, how)
			now := time.Now()
			if how == "hangs" {
				until(t, m, now, true, one)
			}
			now = now.Add(5 * time.Minute) // it has printed nothing for as long
			until(t, m, now, true, func(all []gpus.Reading) bool { return none(all) && starts() == 1 })
			for range 10 {
				m.Read(t.Context(), now, true)
			}
			if n := starts(); n != 1 {
				t.Errorf("it was started %d times at once", n)
			}
			testwait.Until(t, "its end to be seen", func() bool {
				m.Read(t.Context(), now, true)
				return !m.Runs()
			})
			now = now.Add(10 * time.Minute)
			m.Read(t.Context(), now, true)
			testwait.Until(t, "another start", func() bool { return starts() == 2 })
		})
	}
}

func TestMeasure(t *testing.T) {
	s := gpus.Set{Groups: []gpus.Group{
		{Kind: "fake", Devices: []gpus.Device{{Kind: "fake"}}},
		{Kind: resource.NVIDIA, Devices: []gpus.Device{{Number: 0, PCI: "b"}, {Number: 1, PCI: "a"}, {Number: 2, PCI: "lost"}}},
		{Kind: resource.ATI, Devices: []gpus.Device{{Number: 4}, {Number: 5, PCI: "e"}, {Number: 6}}, Declared: true},
	}}
	list := s.Measure([]gpus.Reading{
		{Kind: "NVIDIA", PCI: "a", Celsius: 50},
		{Kind: "NVIDIA", PCI: "b", Celsius: 60},
		{Kind: "NVIDIA", PCI: "c", Celsius: 99},
		{Kind: "ATI", PCI: "e", Celsius: 70},
		{Kind: "ATI", PCI: "f", Celsius: 80},
		{Kind: "intel_gpu", PCI: "g", Celsius: 98},
	})
	got := make(map[string]float64)
	for _, m := range list {
		got[fmt.Sprint(m.Reading.Kind, m.Number)] = m.Celsius
	}
	if want := map[string]float64{"NVIDIA0": 60, "NVIDIA1": 50, "ATI4": 80, "ATI5": 70}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if h := gpus.Hottest(list); h != 80 {
		t.Errorf("the hottest of those that tasks may use has %v °C", h)
	}
}
