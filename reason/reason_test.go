package reason_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const project = "http://p.example/"

// TestEveryCodeHasATextAndACure reads all of them as people do.
func TestEveryCodeHasATextAndACure(t *testing.T) {
	seen := make(map[reason.Code]bool)
	for _, e := range slices.Concat(reason.Troubles, reason.Managers, reason.Failures, reason.Obstacles, reason.Refusals, reason.Requests, reason.Tasks) {
		if seen[e.Code] {
			t.Errorf("%s is there twice", e.Code)
		}
		seen[e.Code] = true
		for _, about := range []string{"", "p.example"} {
			r := reason.Reason{Code: e.Code, About: about, Detail: about, Task: "w_0", App: "upper", Kind: "NVIDIA", Need: 9, Have: 8}
			for _, text := range []string{r.Text(now).String(), r.Failing(1).String(), r.Failing(3).String(), r.Ended().String()} {
				if text == "" || strings.ContainsAny(text, "{}%") {
					t.Errorf("%s about %q: %q", e.Code, about, text)
				}
			}
			if strings.ContainsAny(r.Cure(project).String(), "{}%") {
				t.Errorf("%s: %q", e.Code, r.Cure(project))
			}
		}
	}
	if none := (reason.Reason{}); none.Is() || none.Or(reason.ContactFailed).Is() || none.Text(now).Is() || none.Cure("u").Is() {
		t.Error("no reason is one")
	}
	if r := (reason.Reason{Code: "of_a_later_version"}).Or(reason.ContactFailed); r.Code != reason.ContactFailed || !r.Text(now).Is() {
		t.Errorf("unknown: %+v", r)
	}
	if r := (reason.Reason{Code: reason.Crashed}).Or(reason.ContactFailed); r.Code != reason.Crashed {
		t.Errorf("known: %+v", r)
	}
}

func TestTroublesAndObstaclesAreSentences(t *testing.T) {
	for _, e := range slices.Concat(reason.Troubles, reason.Obstacles) {
		for _, about := range []string{"", "p.example"} {
			r := reason.Reason{Code: e.Code, About: about}
			if text := r.Text(now); !strings.HasSuffix(text.String(), ".") || strings.HasSuffix(text.String(), "..") || strings.Contains(strings.TrimSuffix(text.String(), "."), ". ") && !r.Refusal() && about == "" {
				t.Errorf("%s: not one sentence: %q", e.Code, text)
			}
		}
	}
	for _, e := range reason.Troubles {
		r := reason.Reason{Code: e.Code}
		if !strings.Contains(r.Cure(project).String(), project) {
			t.Errorf("%s: the cure names no command for the project: %q", e.Code, r.Cure(project))
		}
		if of := r.OfFile(); !r.Refusal() && (strings.ContainsAny(of.Cure("").String(), "{}%") || strings.Contains(of.Cure("").String(), "starling update")) {
			t.Errorf("%s: a contact does not help a file: %q", of.Code, of.Cure(""))
		}
	}
}

func TestFailuresAreEndsOfSentences(t *testing.T) {
	for _, e := range reason.Failures {
		for _, about := range []string{"", "in_1"} {
			r := reason.Reason{Task: "w_0", Code: e.Code, About: about}
			if text := r.Text(now); strings.HasSuffix(text.String(), ".") || !r.Cure(project).Is() {
				t.Errorf("%s about %q: %q, %q", e.Code, about, text, r.Cure(project))
			}
		}
	}
}

// Each code of the protocol has its own sentence.
func TestEachRefusalHasASentence(t *testing.T) {
	seen := make(map[string]bool)
	detailed := map[protocol.RefusalCode]string{protocol.RefusedVirtualBox: "VirtualBox", protocol.RefusedContainers: "Podman or Docker"}
	for _, code := range protocol.RefusalCodes {
		r := reason.Reason{Code: reason.Code(code), App: "upper", Need: 3e9, Have: 2e9, Detail: detailed[code]}
		text := r.Text(now)
		if !strings.HasSuffix(text.String(), ".") || seen[text.String()] {
			t.Errorf("%s: %q", code, text)
		}
		seen[text.String()] = true
	}
	if len(reason.Refusals) != len(protocol.RefusalCodes) {
		t.Errorf("%d sentences for %d codes", len(reason.Refusals), len(protocol.RefusalCodes))
	}
}

func TestTroubleKeepsItsStart(t *testing.T) {
	first := reason.Reason{Code: reason.ServerDown}.After(reason.Reason{}, now)
	if again := (reason.Reason{Code: reason.ServerDown}).After(first, now.Add(time.Hour)); !again.Since.Equal(now) {
		t.Errorf("since %v", again.Since)
	}
	if other := (reason.Reason{Code: reason.NotFound}).After(first, now.Add(time.Hour)); !other.Since.Equal(now.Add(time.Hour)) {
		t.Errorf("since %v", other.Since)
	}
}
