package agent_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"testing"

	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol"
)

// The programs of the recorded jobs, as scripts that do the same.
const (
	plainProgram = "#!/bin/sh\ntr a-z A-Z <in >out && echo 0 >boinc_finish_called\n"
	upperProgram = `#!/bin/sh
path() { sed -n 's|.*<soft_link>\(.*\)</soft_link>.*|\1|p' "$1"; }
[ "$*" = "--sleep 3 --big 20000" ] || exit 3
tr a-z A-Z <"$(path in)" >"$(path out)" || exit 4
i=0; while [ $i -lt 1250 ]; do printf 0123456789abcdef; i=$((i+1)); done >"$(path out2)"
echo 0 >boinc_finish_called
`
)

var signature = regexp.MustCompile(`(?s)<file_signature>.*?</file_signature>\s*<nbytes>\d+</nbytes>`)

// resigned puts another program into a recorded reply, signed by the same key.
func resigned(t *testing.T, reply answer, program string) answer {
	t.Helper()
	text, err := os.ReadFile("../protocol/testdata/vectors/code_sign_private")
	must(t, err)
	key, err := protocol.ParsePrivateKey(string(text))
	must(t, err)
	sig, err := key.SignText(program)
	must(t, err)
	block := "<file_signature>\n" + sig + "</file_signature>\n<nbytes>" + strconv.Itoa(len(program)) + "</nbytes>"
	reply.body = signature.ReplaceAll(reply.body, []byte(block))
	return reply
}

// TestRecordedJobs runs the jobs that BOINC's client was recorded with, from the
// same replies to the same report: same states, same files, same checksums.
func TestRecordedJobs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the recorded jobs are for x86_64-pc-linux-gnu")
	}
	for _, tt := range []struct {
		set      string
		program  string
		name     string // of the program file
		first    string
		report   string // number of the exchange that reports
		uploads  []string
		download map[string]string
	}{
		{
			"plain", plainProgram, "plain_1.00_x86_64-pc-linux-gnu", "002", "006",
			[]string{"005-upload"},
			map[string]string{"in_1": "003-download-in_1"},
		},
		{
			"clean", upperProgram, "upper_1.00_x86_64-pc-linux-gnu", "007", "015",
			[]string{"010-upload-size-query", "011-upload-size-query", "013-upload", "014-upload"},
			map[string]string{"in_2.gz": "008-download-in_2.gz"},
		},
	} {
		t.Run(tt.set, func(t *testing.T) {
			t.Parallel()
			rec := func(name string) answer {
				return recorded(t, "debian-7.20.5/"+tt.set+"/"+name+".response.http")
			}
			answers := withMaster(t, demoURL, resigned(t, rec(tt.first+"-scheduler"), tt.program), rec(tt.report+"-scheduler"))
			answers[tt.name] = []answer{{code: 200, body: []byte(tt.program)}}
			for file, name := range tt.download {
				answers[file] = []answer{rec(name)}
			}
			for _, name := range tt.uploads {
				answers[upload] = append(answers[upload], rec(name))
			}
			w := newWorld(t, demoURL, answers, nil)
			w.start(t)
			defer w.stop()
			testwait.Try(t, t.Context(), "the task to be reported", func() error {
				if s := w.after(t, 0); len(s.Tasks) > 0 || len(w.reports()) == 0 {
					return fmt.Errorf("not done: %+v", s)
				}
				return nil
			})
			theirs, err := protocol.ParseSchedulerRequest(body(t, "debian-7.20.5/"+tt.set+"/"+tt.report+"-scheduler.request.http"))
			must(t, err)
			ours := w.reports()[0] // it may have asked for work before
			if len(ours.Results) != 1 || len(theirs.Results) != 1 {
				t.Fatalf("reported %d results, BOINC's client %d", len(ours.Results), len(theirs.Results))
			}
			a, b := ours.Results[0], theirs.Results[0]
			if a.Name != b.Name || a.State != b.State || a.ExitStatus != b.ExitStatus || a.Platform != b.Platform || a.VersionNum != b.VersionNum {
				t.Errorf("reported %+v, BOINC's client %+v", a, b)
			}
			if len(a.Files) != len(b.Files) {
				t.Fatalf("reported files %+v, BOINC's client %+v", a.Files, b.Files)
			}
			for i, f := range a.Files {
				if g := b.Files[i]; f.Name != g.Name || f.NBytes != g.NBytes || f.MD5 != g.MD5 {
					t.Errorf("reported file %s of %d bytes (%s), BOINC's client %s of %d (%s)", f.Name, f.NBytes, f.MD5, g.Name, g.NBytes, g.MD5)
				}
			}
			left, err := filepath.Glob(filepath.Join(w.dir, "slots", "*", "*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left in the slots: %q, %v", left, err)
			}
			for _, name := range []string{"in_1", "in_2", b.Files[0].Name} {
				if _, err := os.Stat(filepath.Join(w.dir, "projects", protocol.EscapeURL(demoURL), name)); err == nil {
					t.Errorf("%s is kept although nobody needs it", name)
				}
			}
		})
	}
}

// body returns the body of a recorded request.
func body(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "protocol", "testdata", "captures", filepath.FromSlash(name)))
	must(t, err)
	_, rest, ok := bytes.Cut(b, []byte("\r\n\r\n"))
	if !ok {
		t.Fatalf("%s: no end of header", name)
	}
	return rest
}
