package server_test

import (
	"archive/zip"
	"bytes"
	"crypto/md5"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/server/api"
	"github.com/starling-grid/starling/server/store"
)

// A submitter sends the recorded requests of BOINC's boinc_submit.py, with the authenticator of a
// token here.
type submitter struct {
	w             *world
	authenticator string
}

func newSubmitter(w *world, name string) submitter {
	_, hash := api.NewToken()
	w.must(w.p.Store.Update(w.t.Context(), func(tx *store.Tx) error {
		_, err := tx.InsertToken(store.Token{CreateTime: w.now(), Name: name, Hash: hash, Apps: []string{"upper"}})
		return err
	}))
	return submitter{w, api.Authenticator(w.p.UploadKey().Text(), hash)}
}

// recorded matches the authenticator in a recorded request.
var recorded = regexp.MustCompile(`(authenticator(?:>|%3E))[0-9a-f]{32}`)

// play sends a recorded request.
func (s submitter) play(name string) string {
	s.w.t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "boinc_submit", name))
	s.w.must(err)
	head, body, _ := bytes.Cut(b, []byte("\n\n"))
	what, kind, _ := strings.Cut(string(head), "\nContent-Type: ")
	method, path, _ := strings.Cut(what, " ")
	if before, _, ok := strings.Cut(path, "auth_str="); ok {
		q, err := url.ParseQuery(path[strings.Index(path, "?")+1:])
		s.w.must(err)
		path = before + fmt.Sprintf("auth_str=%x", md5.Sum([]byte(s.authenticator+q.Get("result_name")+q.Get("batch_id"))))
	}
	return s.send(method, path, kind, recorded.ReplaceAll(body, []byte("${1}"+s.authenticator)))
}

func (s submitter) send(method, path, kind string, body []byte) string {
	s.w.t.Helper()
	req, err := http.NewRequestWithContext(s.w.t.Context(), method, s.w.p.Config.MasterURL+path, bytes.NewReader(body))
	s.w.must(err)
	req.Header.Set("Content-Type", kind)
	res, err := http.DefaultClient.Do(req)
	s.w.must(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	s.w.must(err)
	return string(text)
}

// ask sends a request that was not recorded.
func (s submitter) ask(op, content string) string {
	s.w.t.Helper()
	form := url.Values{"request": {"<" + op + "><authenticator>" + s.authenticator + "</authenticator>" + content + "</" + op + ">"}}
	return s.send("POST", "submit_rpc_handler.php", "application/x-www-form-urlencoded", []byte(form.Encode()))
}

func (s submitter) wants(text string, says ...string) string {
	s.w.t.Helper()
	for _, want := range says {
		if !strings.Contains(text, want) {
			s.w.t.Errorf("%s\nwant %q", text, want)
		}
	}
	return text
}

// BOINC's own client for submitting work creates batches, follows them, and has their outputs.
func TestBOINCSubmit(t *testing.T) {
	t.Parallel()
	w, _ := newSite(t)
	w.setUp()
	w.must(os.WriteFile(filepath.Join(w.dir, "templates", "upper_in"), []byte(`<input_template><file_info><number>0</number></file_info>
		<workunit><file_ref><file_number>0</file_number><open_name>in</open_name></file_ref></workunit></input_template>`), 0o600))
	s := newSubmitter(w, "lab")
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	c.rpc(1) // it is active now

	s.wants(s.play("01_create_batch"), "<create_batch>\n<batch_id>1</batch_id>\n</create_batch>")
	s.wants(s.play("01_create_batch"), "<batch_id>1</batch_id>") // an answer was lost
	s.wants(s.play("02_query_files"), "<file>0</file>", "<file>1</file>")
	s.wants(s.play("03_upload_files"), "<success/>")
	s.wants(s.play("03_upload_files"), "<success/>")
	if text := s.play("02_query_files"); strings.Contains(text, "<file>") {
		t.Errorf("after the upload: %s", text)
	}
	s.wants(s.play("04_estimate_batch"), "<seconds>")
	s.wants(s.play("05_submit_batch"), "<batch_id>1</batch_id>")
	s.wants(s.play("05_submit_batch"), "<batch_id>1</batch_id>") // an answer was lost
	if n := w.status().Workunits.Total; n != 3 {
		t.Fatalf("%d workunits", n)
	}
	s.wants(s.play("06_query_batch"), "<njobs>3</njobs>", "<state>1</state>", "<status>queued</status>")
	w.step()
	testwait.Until(t, "the batch to be done", func() bool {
		c.compute(c.rpc(1))
		w.step()
		return strings.Contains(s.play("06_query_batch"), "<state>2</state>")
	})
	text := s.play("06_query_batch")
	s.wants(text, "<state>2</state>", "<fraction_done>1", "<name>staged</name>", "<canonical_instance_id>1</", "<status>done</status>")
	if !regexp.MustCompile(`<total_cpu_time>[0-9.]*[1-9]`).MatchString(text) {
		t.Errorf("no CPU time: %s", text)
	}
	s.wants(s.play("07_query_batches"), "<name>run-1</name>", "<app_name>upper</app_name>")
	s.wants(s.play("08_query_completed_job"), "<canonical_resultid>1</canonical_resultid>")
	s.wants(s.play("09_query_job"), "<name>api1_inline_0</name>", "<state>Completed and validated</state>", "<size>7</size>")
	if text = s.play("10_result_file"); text != "IN LINE" {
		t.Errorf("the output file is %q", text)
	}
	archive := s.play("11_batch_files")
	z, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	w.must(err)
	found := make(map[string]string)
	for _, f := range z.File {
		r, err := f.Open()
		w.must(err)
		b, err := io.ReadAll(r)
		w.must(err)
		found[f.Name] = string(b)
	}
	if len(found) != 3 || found["staged/out"] != "ONE" || found["bad/out"] != "BAD" {
		t.Errorf("the archive has %q", found)
	}
	auth := "&auth=" + s.authenticator
	for path, want := range map[string]string{
		"get_output.php?cmd=workunit_file&wu_name=staged&file_num=0&auth_str=" + s.authenticator: "ONE", // as remote_submit.cpp asks
		"get_output2.php?cmd=result&result_id=1" + auth:                                          "ONE",
		"get_output2.php?cmd=file&result_id=1&file_num=0" + auth:                                 "ONE",
		"get_output2.php?cmd=workunit&wu_id=1" + auth:                                            "PK",
		"get_output2.php?cmd=batch&batch_id=1" + auth:                                            "PK",
		"get_output2.php?cmd=file&result_id=1&file_num=1" + auth:                                 "ERROR: there is no such output file",
		"get_output2.php?cmd=batch&batch_id=9" + auth:                                            "ERROR: there is no such output file",
		"get_output2.php?cmd=everything" + auth:                                                  "ERROR: there is no such cmd",
		"get_output.php?cmd=result_file&result_name=api1_staged_0&file_num=0&auth_str=x":         "ERROR: the authenticator is not known",
	} {
		if text := s.send("GET", path, "", nil); !strings.HasPrefix(text, want) {
			t.Errorf("%s: %q, want %q", path, text, want)
		}
	}
	s.wants(s.ask("query_batch2", "<batch_name>run-1</batch_name>"), "<server_time>", "<batch_size>3</batch_size>", "<job_name>bad</job_name>", "<status>DONE</status>")
	s.wants(s.ask("get_templates", "<job_name>bad</job_name>"), "<templates>", "<input_template>", "<open_name>in</open_name>", "<output_template>")

	s.wants(s.play("12_submit_remote"), "<batch_id>2</batch_id>")
	s.wants(s.play("13_abort_jobs"), "<success>1</success>")
	s.wants(s.play("14_abort_batch"), "<success>1</success>")
	s.wants(s.play("15_query_aborted"), "<nerror_jobs>1</nerror_jobs>", "<error>cancelled</error>", "<status>error</status>")
	s.wants(s.play("16_retire_batch"), "<success>1</success>")
	if text := s.play("07_query_batches"); strings.Contains(text, "run-1") || !strings.Contains(text, "run-2") {
		t.Errorf("after run-1 was retired: %s", text)
	}
	s.wants(s.play("10_result_file"), "ERROR: there is no such output file")
	s.wants(s.play("20_job_counts"), "<job_counts>", "<results_ready_to_send>0</results_ready_to_send>", "<wus_need_validate>0</wus_need_validate>")
}

// An invalid request is refused with a reason.
func TestBOINCSubmitRefusals(t *testing.T) {
	t.Parallel()
	w, _ := newSite(t)
	w.setUp()
	s := newSubmitter(w, "lab")
	job := func(in string) string {
		return "<batch><app_name>upper</app_name><batch_name>b</batch_name><job>" + in + "</job></batch>"
	}
	for _, tt := range []struct{ text, says string }{
		{s.play("17_no_such_app"), "not for the application"},
		{s.play("18_sandbox"), `the mode "sandbox"`},
		{s.play("19_template"), "a template of a single job is not supported here"},
		{s.play("05_submit_batch"), "no batch 1"},
		{s.ask("submit_batch", job("<input_file><mode>local</mode><source>/etc/passwd</source></input_file>")), `the mode "local"`},
		{s.ask("submit_batch", job("<input_file><mode>local_staged</mode><source>nothing</source></input_file>")), "which the project does not have"},
		{s.ask("submit_batch", job("<input_file><mode>semilocal</mode><source>http://127.0.0.1/x</source></input_file>")), "not a public address"},
		{s.ask("submit_batch", job("<target_host>1</target_host>")), "for one team, user or computer"},
		{s.ask("submit_batch", strings.Replace(job(""), "<job>", "<app_version_num>3</app_version_num><job>", 1)), "app_version_num is not supported"},
		{s.ask("submit_batch", strings.Replace(job(""), "<job>", "<allocation_priority/><job>", 1)), "allocation_priority is not supported"},
		{s.ask("submit_batch", strings.Replace(job(""), "<job>", "<input_template_filename>../x</input_template_filename><job>", 1)), "a template of another name"},
		{s.ask("set_expire_time", "<batch_id>9</batch_id><expire_time>1e9</expire_time>"), "no batch 9"},
		{s.ask("estimate_batch", job("")), "end unknown"},
		{s.ask("query_batch", ""), "names no batch"},
		{s.ask("query_batch", "<batch_name>x</batch_name>"), "no batch called"},
		{s.ask("query_job", "<job_id>1</job_id>"), "no job 1"},
		{s.ask("abort_jobs", "<job_name>x</job_name>"), "no job called"},
		{s.ask("get_templates", "<app_name>lower</app_name>"), "no application"},
		{s.ask("get_templates", "<app_name>upper</app_name>"), "no template upper_in"},
		{s.ask("steal_batch", ""), "no such request"},
		{s.send("POST", "submit_rpc_handler.php", "application/x-www-form-urlencoded", []byte("request=%3Cping")), "not understood"},
		{s.send("POST", "job_file.php", "application/x-www-form-urlencoded", []byte("request="+url.QueryEscape("<upload_files><authenticator>"+s.authenticator+"</authenticator><phys_name>a</phys_name></upload_files>"))), "names 1 files"},
		{s.send("POST", "job_file.php", "application/x-www-form-urlencoded", []byte("request="+url.QueryEscape("<query_files><authenticator>"+s.authenticator+"</authenticator><phys_name>../a</phys_name></query_files>"))), "no name for a file"},
		{submitter{w, strings.Repeat("0", 32)}.ask("query_batches", ""), "the authenticator is not known"},
	} {
		s.wants(tt.text, "<error_num>-1</error_num>", tt.says)
	}
	s.wants(submitter{w, ""}.ask("ping", ""), "<success>1</success>")

	// Each token has its own file names, and the file that a name refers to never changes.
	s.wants(s.play("03_upload_files"), "<success/>")
	b, err := os.ReadFile(filepath.Join("testdata", "boinc_submit", "03_upload_files"))
	w.must(err)
	head, body, _ := bytes.Cut(b, []byte("\n\n"))
	_, kind, _ := strings.Cut(string(head), "Content-Type: ")
	changed := bytes.Replace(body, []byte("\r\n\r\none"), []byte("\r\n\r\nONE"), 1)
	for authenticator, want := range map[string]string{s.authenticator: "other content", newSubmitter(w, "other").authenticator: "<success/>"} {
		s.wants(s.send("POST", "job_file.php", kind, recorded.ReplaceAll(changed, []byte("${1}"+authenticator))), want)
	}
	// Another token sees nothing of a batch.
	s.wants(s.ask("create_batch", "<app_name>upper</app_name><batch_name>mine</batch_name>"), "<batch_id>2</batch_id>")
	other := newSubmitter(w, "third")
	for _, op := range []string{"query_batch", "abort_batch", "retire_batch"} {
		s.wants(other.ask(op, "<batch_id>2</batch_id>"), "this token has no batch 2")
	}
	s.wants(s.ask("query_batch", "<batch_name>mine</batch_name>"), "<state>0</state>")
	s.wants(s.ask("retire_batch", "<batch_name>mine</batch_name>"), "<success>1</success>")
}

// A batch that has expired is given up, and its output is deleted.
func TestBOINCSubmitExpires(t *testing.T) {
	t.Parallel()
	w, _ := newSite(t)
	w.setUp()
	s := newSubmitter(w, "lab")
	at := func(d time.Duration) string {
		return fmt.Sprintf("<expire_time>%d</expire_time>", w.now().Add(d).Unix())
	}
	s.wants(s.ask("create_batch", "<app_name>upper</app_name><batch_name>a</batch_name>"+at(time.Hour)), "<batch_id>1</batch_id>")
	s.wants(s.ask("create_batch", "<app_name>upper</app_name><batch_name>empty</batch_name>"+at(time.Hour)), "<batch_id>2</batch_id>")
	s.wants(s.ask("create_batch", "<app_name>upper</app_name><batch_name>kept</batch_name>"+at(time.Hour)), "<batch_id>3</batch_id>")
	s.wants(s.ask("set_expire_time", "<batch_name>kept</batch_name><expire_time>0.000000</expire_time>"), "<success>1</success>")
	job := "<job><input_file><mode>inline</mode><source>x</source></input_file></job>"
	s.wants(s.ask("submit_batch", "<batch><app_name>upper</app_name><batch_id>1</batch_id>"+job+job+"</batch>"), "<batch_id>1</batch_id>")
	w.step()
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	c.compute(c.rpc(1))
	w.step()
	s.wants(s.ask("query_batch", "<batch_id>1</batch_id>"), "<expire_time>1", "<state>1</state>")
	w.ahead += 2 * time.Hour
	testwait.Until(t, "the batch to be purged", func() bool {
		w.step()
		return !strings.Contains(s.ask("query_batches", ""), "<id>1</id>")
	})
	if list := s.ask("query_batches", ""); strings.Contains(list, "<id>1</id>") || strings.Contains(list, "<id>2</id>") || !strings.Contains(list, "<name>kept</name>") {
		t.Errorf("after they expired: %s", list)
	}
	s.wants(s.ask("query_batch", "<batch_id>1</batch_id>"), "<state>4</state>", "<nerror_jobs>1</nerror_jobs>")
	if left, err := filepath.Glob(filepath.Join(w.dir, "results", "*", "api1_*")); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	s.wants(s.ask("submit_batch", "<batch><app_name>upper</app_name><batch_id>2</batch_id>"+job+"</batch>"), "has expired")
}
