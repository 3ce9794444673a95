package server_test

import (
	"archive/zip"
	"encoding/json"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/operate"
)

// The holder of a token submits a first batch, follows it, reads why a job failed, and fetches the
// output, all in the browser.
func TestSubmittersPages(t *testing.T) {
	t.Parallel()
	w, v := newSite(t)
	w.setUp()
	p := w.token("lab", []string{"upper"}, 0)
	v.wants(200, "<h1>Batches</h1>", "gives you a token")(v.do("GET", "batches", nil))
	v.wants(200, "gives you a token")(v.do("GET", "batches/1", nil))
	v.wants(422, "The token is not known, or was revoked")(v.do("POST", "batches", url.Values{"action": {"login"}, "token": {"starling_x"}}))
	v.wants(200, "This token has no batches yet.")(v.do("POST", "batches", url.Values{"action": {"login"}, "token": {" " + p.secret + "\n"}}))
	form := url.Values{"action": {"submit"}, "name": {"run-1"}, "app": {"lower"}, "lines": {"hello\r\n\r\n<b>world\r\n"}, "input": {"in"}, "quorum": {"1"}}
	v.wants(422, "This token is not for the application &#34;lower&#34;: use one of upper", "&lt;b&gt;world")(v.do("POST", "batches", form))
	form.Set("app", "upper")
	form.Set("quorum", "x")
	v.wants(422, "The quorum is not a number")(v.do("POST", "batches", form))
	form.Set("quorum", "1")
	lines := form["lines"]
	form.Set("lines", "\r\n")
	v.wants(422, "The batch has no jobs")(v.do("POST", "batches", form))
	form["lines"] = lines
	v.wants(200, "<h1>Batch run-1</h1>", "Estimate: end unknown: no computer", "Cancel the unfinished jobs")(v.do("POST", "batches", form))
	v.wants(200, "Schätzung: Ende unbekannt: In den letzten 7 Tagen")(v.do("GET", "batches/1", nil, "Accept-Language", "de"))
	w.step()
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	c.compute(c.fetch())
	w.step()
	if _, page := v.do("GET", "batches/1", nil); !strings.Contains(page, "50 %") || !strings.Contains(page, "batches/1/outputs.zip") {
		t.Errorf("half of it is done: %s", page)
	}
	v.wants(200, "Failed jobs", "cancelled")(v.do("POST", "batches/1", url.Values{}))
	w.step()
	v.wants(200, "100 %, done")(v.do("GET", "batches/1", nil))
	_, archive := v.do("GET", "batches/1/outputs.zip", nil)
	z, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	w.must(err)
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); !strings.Contains(got, "0/out") || !strings.Contains(got, "failed.json") {
		t.Errorf("the archive has %s", got)
	}
	v.wants(403)(v.do("POST", "batches/1", url.Values{}, "Sec-Fetch-Site", "cross-site"))
	other := newVisitor(t, v.base)
	stranger := w.token("other", nil, 0)
	other.wants(200, "This token has no batches yet.")(other.do("POST", "batches", url.Values{"action": {"login"}, "token": {stranger.secret}}))
	for _, method := range []string{"GET", "POST"} {
		other.wants(404, "This token has no batch of this number.")(other.do(method, "batches/1", nil))
	}
	other.wants(404, "Dieses Token hat keinen Auftrag mit dieser Nummer.")(other.do("GET", "batches/1/outputs.zip", nil, "Accept-Language", "de"))
	v.wants(200, "gives you a token")(v.do("POST", "batches", url.Values{"action": {"logout"}}))
	v.wants(200, "gives you a token")(v.do("GET", "batches/1/outputs.zip", nil))
}

// A form that the API refuses shows the reason and the remedy in the visitor's language. A program gets both in
// English, whatever language it asks for.
func TestRefusalsInTwoLanguages(t *testing.T) {
	t.Parallel()
	w, v := newSite(t)
	w.setUp()
	p := w.token("lab", []string{"upper", "other"}, 2)
	german := []string{"Accept-Language", "de-AT, en;q=0.5"}
	v.wants(422, "Das Token ist unbekannt oder wurde widerrufen: Bitten Sie den Betreiber des Projekts um ein neues.")(
		v.do("POST", "batches", url.Values{"action": {"login"}, "token": {"starling_x"}}, german...))
	v.wants(200, "hat noch keine Aufträge")(v.do("POST", "batches", url.Values{"action": {"login"}, "token": {p.secret}}, german...))
	refused := func(change url.Values, shown, sent string) {
		t.Helper()
		form := url.Values{"action": {"submit"}, "name": {"run-1"}, "app": {"upper"}, "lines": {"x"}, "input": {"in"}, "quorum": {"1"}}
		for key := range change {
			form[key] = change[key]
		}
		code, page := v.do("POST", "batches", form, german...)
		v.wants(422, shown)(code, html.UnescapeString(page))
		quorum, err := strconv.Atoi(form.Get("quorum"))
		w.must(err)
		s := wire.Submission{Name: form.Get("name"), App: form.Get("app"), Quorum: quorum}
		for line := range strings.FieldsSeq(form.Get("lines")) {
			s.Workunits = append(s.Workunits, wire.Workunit{Inputs: []wire.Input{{Name: form.Get("input"), Text: &line}}})
		}
		body, err := json.Marshal(s)
		w.must(err)
		if _, got := p.ask("POST", "batches", string(body), nil, german...); got != sent+"\n" {
			t.Errorf("a program got %s, want %s", got, sent)
		}
	}
	refused(url.Values{"app": {"lower"}},
		`Dieses Token gilt nicht für die Anwendung "lower": Wählen Sie eine von upper, other, oder fragen Sie den Betreiber des Projekts.`,
		`{"error":"this token is not for the application \"lower\"","cure":"use one of upper, other, or ask the project's operator"}`)
	refused(url.Values{"app": {"other"}},
		`Es gibt keine Anwendung "other": Fragen Sie den Betreiber des Projekts nach den Namen seiner Anwendungen.`,
		`{"error":"there is no application \"other\"","cure":"ask the project's operator for the names of its applications"}`)
	refused(url.Values{"name": {"ärger"}},
		`"ärger" ist kein Name für einen Auftrag: Verwenden Sie nur Buchstaben, Ziffern, _ . und -, höchstens 60 davon.`,
		`{"error":"\"ärger\" is no name for a batch","cure":"use letters, digits, _ . and -, at most 60 of them"}`)
	refused(url.Values{"quorum": {"101"}},
		`Jeder Job hätte 101 Ergebnisse: Geben Sie für die Anzahl der Computer (quorum, targets) höchstens 100 an.`,
		`{"error":"each workunit would have 101 results","cure":"give quorum and targets at most 100"}`)
	refused(url.Values{"input": {""}},
		`Eine Eingabe von Job 0 hat keinen Namen: Geben Sie ihr den Namen, unter dem die Anwendung sie öffnet.`,
		`{"error":"an input of workunit 0 has no name","cure":"give it the name under which the application opens it","workunit":0}`)
	refused(url.Values{"lines": {"x\r\ny\r\nz"}},
		`0 Jobs dieses Tokens sind offen, der Auftrag hat 3, und zusammen dürfen es 2 sein: Reichen Sie nacheinander kleinere Aufträge ein, oder bitten Sie den Betreiber des Projekts um mehr.`,
		`{"error":"0 workunits of this token are unfinished, the batch has 3, and it may have 2","cure":"send smaller batches, one after the other, or ask the project's operator for more"}`)
	var b wire.Batch
	if code, text := p.ask("POST", "batches", inline("run-2", 1), &b); code != 201 {
		t.Fatalf("HTTP %d, %s", code, text)
	}
	refused(url.Values{"name": {"run-2"}},
		`Es gibt schon einen anderen Auftrag namens "run-2": Wählen Sie einen anderen Namen, oder wiederholen Sie dieselbe Anfrage.`,
		`{"error":"there is another batch called \"run-2\"","cure":"choose another name, or repeat the same request"}`)
	refused(url.Values{"lines": {"x\r\ny"}},
		`1 Job dieses Tokens ist offen, der Auftrag hat 2, und zusammen dürfen es 2 sein: Warten Sie, bis einige fertig sind, brechen Sie einen Auftrag ab, oder bitten Sie den Betreiber des Projekts um mehr.`,
		`{"error":"1 workunits of this token are unfinished, the batch has 2, and it may have 2","cure":"wait until some are finished, cancel a batch, or ask the project's operator for more"}`)
	w.must(os.WriteFile(filepath.Join(w.dir, "templates", "upper_in"), []byte(`<input_template><file_info><number>0</number></file_info>
<workunit><file_ref><file_number>0</file_number><open_name>data</open_name></file_ref></workunit></input_template>`), 0o600))
	refused(nil,
		`Job "0": die Eingabevorlage hat keine Datei namens in; ihre Dateien heißen data: Korrigieren Sie das und senden Sie den Auftrag unter demselben Namen noch einmal: Kein Job wird doppelt angelegt.`,
		`{"error":"workunit \"0\": the input template has no file called in; its files are called data","cure":"correct it and send the batch again under the same name: no workunit is made twice","workunit":0}`)
	w.limit("lab", func(l *operate.TokenLimits) { l.MaxGB = 1.0 / (1 << 30) })
	refused(nil,
		`Das Projekt speichert 1 Byte für dieses Token, das höchstens 1 Byte haben darf: Warten Sie, bis Jobs fertig sind`,
		`{"error":"the project stores 1 byte for this token, and it may have 1 byte","cure":"wait until jobs are finished, which frees their input files, retire batches whose output you have, delete uploaded files that you do not need, or ask the project's operator for more"}`)

	// The pages do not show these.
	for path, sent := range map[string]string{
		"batches/99": `{"error":"this token has no batch 99","cure":"GET batches lists those of this token"}`,
		"nothing":    `{"error":"the project has no such address below api/v1/","cure":"see docs/api.md, or openapi.json below api/v1/ for programs"}`,
	} {
		if _, got := p.ask("GET", path, "", nil, german...); got != sent+"\n" {
			t.Errorf("%s: a program got %s, want %s", path, got, sent)
		}
	}
	p.secret = "starling_x"
	if _, got := p.ask("GET", "batches", "", nil, german...); got != `{"error":"the token is not known, or was revoked","cure":"ask the project's operator for a new one"}`+"\n" {
		t.Errorf("a program got %s", got)
	}
}
