package server_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/workgen"
)

// ask makes a workunit from any spec.
func (w *world) ask(spec workgen.Spec) error {
	w.t.Helper()
	g, err := operate.Generator(w.t.Context(), w.p, "upper", w.now())
	w.must(err)
	_, err = g.Create(w.t.Context(), []workgen.Spec{spec}, w.now())
	return err
}

// Work whose input files are not there yet is made, waits, and continues when the last file
// arrives.
func TestAwaitedInputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	spec := workgen.Spec{Params: workgen.Params{Name: "wu"}, Await: true, Inputs: []workgen.Given{
		{Path: "first.dat", Logical: "in", Kind: workgen.Staged}, {Path: "second.dat", Kind: workgen.Staged},
	}}
	w.must(w.ask(spec))
	other := spec
	other.Name, other.Await = "other", false
	if err := w.ask(other); err == nil {
		t.Error("a workunit without its input was made")
	}
	w.step()
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	idle := func(when string) {
		t.Helper()
		w.step()
		if n := len(c.fetch().Results); n != 0 {
			t.Fatalf("%s: %d results were sent", when, n)
		}
		if st := w.status(); st.Results.ByServerState["inactive"] != 1 {
			t.Errorf("%s: %+v", when, st.Results)
		}
	}
	idle("without any file")
	_, err := operate.StageFile(t.Context(), w.p, w.file("x", "hello"), "first.dat")
	w.must(err)
	idle("without the second file")
	if _, err := operate.StageFile(t.Context(), w.p, w.file("x", "other"), "first.dat"); err == nil {
		t.Error("a name was used for another content")
	}
	_, err = operate.StageFile(t.Context(), w.p, w.file("y", "world"), "second.dat")
	w.must(err)
	w.step()
	c.compute(c.fetch())
	if text, _ := w.outcome("wu"); text != "HELLO" {
		t.Errorf("outcome %q", text)
	}
	if st := w.status(); !st.Done {
		t.Errorf("at the end: %+v", st)
	}
}

func TestAwaitingWorkCanBeCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	w.must(w.ask(workgen.Spec{
		Params: workgen.Params{Name: "wu"}, Await: true, Inputs: []workgen.Given{{Path: "x.dat", Kind: workgen.Staged}},
	}))
	w.step()
	_, err := operate.CancelWork(t.Context(), w.p, operate.CancelSpec{IDs: []int64{1}}, w.now())
	w.must(err)
	w.step()
	_, err = operate.StageFile(t.Context(), w.p, w.file("x", "late"), "x.dat")
	w.must(err)
	w.step()
	if st := w.status(); !st.Done || st.Results.ByOutcome["didnt_need"] != 1 {
		t.Errorf("%+v", st)
	}
}

// The flags of files in BOINC's templates reach the host: files that stay there, files that are
// made there, and files from elsewhere.
func TestTemplatesOfFilesThatStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	const in = `<input_template>
<file_info><number>0</number><sticky/><no_delete/></file_info>
<file_info><number>1</number><generated_locally/><sticky/><physical_name>table_7</physical_name></file_info>
<file_info><number>2</number><physical_name>genome</physical_name>
  <url>http://192.0.2.9/genome</url><nbytes>5</nbytes><md5_cksum>5d41402abc4b2a76b9719d911017c592</md5_cksum></file_info>
<workunit>
<file_ref><file_number>0</file_number><open_name>in</open_name></file_ref>
<file_ref><file_number>1</file_number><open_name>table</open_name></file_ref>
<file_ref><file_number>2</file_number><open_name>genome</open_name></file_ref>
<rsc_bandwidth_bound>1000</rsc_bandwidth_bound>
</workunit></input_template>`
	const out = `<output_template>
<file_info><name><OUTFILE_0/></name><generated_locally/><upload_when_present/><max_nbytes>99</max_nbytes><url><UPLOAD_URL/></url></file_info>
<file_info><name><OUTFILE_1/></name><generated_locally/><sticky/><max_nbytes>99</max_nbytes></file_info>
<result>
<file_ref><file_name><OUTFILE_0/></file_name><open_name>out</open_name></file_ref>
<file_ref><file_name><OUTFILE_1/></file_name><open_name>state</open_name></file_ref>
</result></output_template>`
	w.must(os.WriteFile(filepath.Join(w.dir, "templates", "upper_in"), []byte(in), 0o600))
	w.must(os.WriteFile(filepath.Join(w.dir, "templates", "upper_out"), []byte(out), 0o600))
	w.create(workgen.Params{Name: "wu"}, "hello")
	without := &client{w: w, key: w.user("b@example.org"), name: "b"}
	if reply := without.fetch(); len(reply.Results) != 0 || len(reply.Refusals) != 1 || reply.Refusals[0].Code != protocol.RefusedReserved {
		t.Errorf("a host that has not made the file got %v, refused for %+v", resultNames(reply), reply.Refusals)
	}
	c := &client{w: w, key: w.user("a@example.org"), name: "a", held: []protocol.FileInfo{{Name: "table_7", NBytes: 9, Status: 1}}}
	reply := c.fetch()
	files := make(map[string]protocol.FileInfo)
	for _, f := range reply.Files {
		files[f.Name] = f
	}
	refs := reply.Workunits[0].FileRefs
	first, table, genome := files[refs[0].FileName], files["table_7"], files["genome"]
	switch {
	case !first.Sticky || !first.NoDelete || len(first.DownloadURLs) != 1:
		t.Errorf("input: %+v", first)
	case !table.Sticky || !table.GeneratedLocally || len(table.DownloadURLs) != 0:
		t.Errorf("made on the host: %+v", table)
	case len(genome.DownloadURLs) != 1 || genome.DownloadURLs[0] != "http://192.0.2.9/genome" || genome.NBytes != 5:
		t.Errorf("from elsewhere: %+v", genome)
	}
	r := reply.Results[0]
	up, state := files[r.FileRefs[0].FileName], files[r.FileRefs[1].FileName]
	if len(up.UploadURLs) != 1 || up.XMLSignature == "" {
		t.Errorf("to be uploaded: %+v", up)
	}
	if !state.Sticky || len(state.UploadURLs) != 0 || state.XMLSignature != "" {
		t.Errorf("to stay on the host: %+v", state)
	}
	c.compute(reply) // uploads the first output alone
	if st := w.status(); !st.Done || st.Results.ByValidateState["valid"] != 1 {
		t.Errorf("%+v", st)
	}
	if _, err := w.p.Download.Size(t.Context(), first.Name); err != nil {
		t.Errorf("a file that must not be deleted: %v", err)
	}
	if wu := storetest.Get(t, w.p.Store, (*store.View).WorkunitByName, "wu"); wu.RscBandwidthBound != 1000 {
		t.Errorf("rsc_bandwidth_bound %v", wu.RscBandwidthBound)
	}
}

// An input file that came, and that the server may not read, delays the workunits that wait for it, and nothing else.
func TestAnAwaitedFileThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	w.must(w.ask(workgen.Spec{Params: workgen.Params{Name: "waits"}, Await: true, Inputs: []workgen.Given{{Path: "a.dat", Kind: workgen.Staged}}}))
	w.step()
	// A folder of that name cannot be read, like a file that root has copied there.
	_, err := w.p.Download.Put(t.Context(), "a.dat", strings.NewReader("x"))
	w.must(err)
	w.must(filepath.WalkDir(filepath.Join(w.dir, "download"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "a.dat" {
			return err
		}
		return errors.Join(os.Remove(path), os.Mkdir(path, 0o755))
	}))
	w.must(w.ask(workgen.Spec{Params: workgen.Params{Name: "wu"}, Inputs: []workgen.Given{{Path: w.file("in", "hello"), Logical: "in"}}}))
	w.step()
	if st := w.status(); st.Results.ByServerState["unsent"] != 1 {
		t.Errorf("the other workunit has no result that can be sent: %+v", st.Results)
	}
}
