package workgen_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testerr"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/workgen"
)

func TestParams(t *testing.T) {
	for _, tt := range []struct {
		name   string
		params workgen.Params
		want   string // part of the error, or ""
	}{
		{"nothing said", workgen.Params{}, ""},
		{"a quorum alone raises the target", workgen.Params{MinQuorum: 3}, ""},
		{"many results raise the limits not said", workgen.Params{MinQuorum: 20}, ""},
		{"a small total lowers the others", workgen.Params{MaxTotalResults: 1}, ""},
		{"a bound alone", workgen.Params{RscFpopsBound: 1e9}, ""},
		{"a million results", workgen.Params{TargetNResults: 1_000_000}, "target_nresults is 1000000, want at most 1000"},
		{"too much credit", workgen.Params{Credit: 1e9}, "credit is 1000000000, want at most 73000000"},
		{"target below quorum", workgen.Params{MinQuorum: 3, TargetNResults: 2}, "target_nresults (2) is below min_quorum (3)"},
		{"bound below estimate", workgen.Params{RscFpopsEst: 2e9, RscFpopsBound: 1e9}, "rsc_fpops_bound (1000000000) is below rsc_fpops_est (2000000000)"},
		{"total below target", workgen.Params{TargetNResults: 5, MaxTotalResults: 4}, "max_total_results (4) is below target_nresults (5)"},
		{"successes below quorum", workgen.Params{MinQuorum: 3, MaxSuccessResults: 2}, "max_success_results (2) is below min_quorum (3)"},
		{"errors above total", workgen.Params{MaxErrorResults: 8, MaxTotalResults: 5}, "max_total_results (5) is below max_error_results (8)"},
		{"an estimate of next to nothing", workgen.Params{RscFpopsEst: 1e-300}, "rsc_fpops_bound is 1e-300, want at least 1"},
		{"a bound of next to nothing", workgen.Params{RscFpopsBound: 1e-300}, "rsc_fpops_bound is 1e-300, want at least 1"},
		{"negative", workgen.Params{DelayBound: -1}, "delay_bound is -1"},
		{"a deadline beyond counting", workgen.Params{DelayBound: 1e12}, "delay_bound is 1e12"},
		{"a name that leads elsewhere", workgen.Params{Name: "../x"}, "name: bad file name"},
		{"a name with markup", workgen.Params{Name: "a&b"}, "only ASCII letters"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.params.Complete()
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %q", err, tt.want)
			case tt.want == "":
				if again, err := got.Complete(); err != nil || again != got {
					t.Errorf("completing twice: %+v, %v; want %+v", again, err, got)
				}
			}
		})
	}
}

const goodOutput = `<output_template>
<file_info><name><OUTFILE_0/></name><max_nbytes>1000</max_nbytes><url><UPLOAD_URL/></url></file_info>
<file_info>
    <name><OUTFILE_1/></name>
    <max_nbytes>5</max_nbytes>
    <url><UPLOAD_URL/></url>
</file_info>
<result>
    <file_ref><file_name><OUTFILE_0/></file_name><open_name>out</open_name></file_ref>
    <file_ref><file_name><OUTFILE_1/></file_name><open_name>log</open_name><optional/><no_validate/></file_ref>
    <report_immediately/>
</result>
</output_template>`

// certify replaces the project's certificates.
func certify(name string, maxNBytes int64) string { return fmt.Sprint(name, " up to ", maxNBytes) }

func TestOutputTemplate(t *testing.T) {
	o, err := workgen.ParseOutput("t", goodOutput)
	must(t, err)
	doc, err := o.Expand("wu_1_0", "wu_1", 77, certify)
	must(t, err)
	e, err := protocol.ParseElements([]byte(doc))
	must(t, err)
	if len(e.Files) != 2 || e.Files[0].Name != "wu_1_0_r77_0" || e.Files[1].Name != "wu_1_0_r77_1" || e.Files[0].MaxNBytes != 1000 {
		t.Errorf("files %+v", e.Files)
	}
	if got, want := strings.TrimSpace(e.Files[0].XMLSignature), certify("wu_1_0_r77_0", 1000); got != want {
		t.Errorf("certificate %q, want %q", got, want)
	}
	r := e.Results[0]
	if r.Name != "wu_1_0" || r.WorkunitName != "wu_1" || !r.ReportImmediately || !r.FileRefs[1].Optional || !r.FileRefs[1].NoValidate {
		t.Errorf("result %+v", r)
	}
}

func TestBadOutputTemplates(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"no size", "<max_nbytes>1000</max_nbytes>", "", "file OUTFILE_0 has no <max_nbytes>"},
		{"a fixed name", "<name><OUTFILE_0/></name>", "<name>out</name>", `"out", want <OUTFILE_0/>`},
		{"a file without a use", "<file_ref><file_name><OUTFILE_0/></file_name><open_name>out</open_name></file_ref>", "", "no <file_ref>"},
		{"a use without a file", "<OUTFILE_1/></file_name>", "<OUTFILE_2/></file_name>", "OUTFILE_1 has a <file_info>"},
		{"one logical name twice", "<open_name>log</open_name>", "<open_name>out</open_name>", "open_name out"},
		{"a logical name that leads elsewhere", "<open_name>log</open_name>", "<open_name>../log</open_name>", "bad file name"},
		{"no result", "result>", "resolt>", "0 <result> elements"},
		{"not closed", "</output_template>", "", "not closed"},
		{"a broken placeholder", "<OUTFILE_0/></name>", "<OUTFILE_/></name>", "not followed by a number"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.ReplaceAll(goodOutput, tt.old, tt.new)
			if text == goodOutput {
				t.Fatal("nothing changed")
			}
			if _, err := workgen.ParseOutput("t", text); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := workgen.ParseOutput("t", workgen.OutputText([]workgen.OutputFile{{Logical: "a", MaxNBytes: 1}, {Logical: "b", MaxNBytes: 2}})); err != nil {
		t.Errorf("our own template: %v", err)
	}
}

// A bench is a project's directory with one application.
type bench struct {
	dir, work string
	store     *store.Store
	files     *blob.Dir
	app       store.App
}

func newBench(t *testing.T, input string) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir(), work: t.TempDir()}
	st := storetest.Open(t, b.dir)
	b.store, b.app = st, storetest.Fill(t, st).App
	var err error
	b.files, err = blob.Open(filepath.Join(b.dir, "download"))
	must(t, err)
	t.Cleanup(func() { _ = b.files.Close() })
	must(t, os.Mkdir(filepath.Join(b.dir, "templates"), 0o755))
	b.write(t, filepath.Join(b.dir, "templates", "upper_out"), goodOutput)
	if input != "" {
		b.write(t, filepath.Join(b.dir, "templates", "upper_in"), input)
	}
	return b
}

func (b *bench) write(t *testing.T, path, text string) string {
	t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.work, path)
	}
	must(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func (b *bench) generator(t *testing.T) *workgen.Generator {
	t.Helper()
	g, err := workgen.New(b.store, b.files, b.dir, b.app, storetest.T0)
	must(t, err)
	return g
}

func (b *bench) workunit(t *testing.T, name string) (store.Workunit, protocol.Elements) {
	t.Helper()
	wu, err := store.Read(t.Context(), b.store, func(tx *store.View) (store.Workunit, error) { return tx.WorkunitByName(name) })
	must(t, err)
	e, err := protocol.ParseElements([]byte(wu.XMLDoc))
	must(t, err)
	return wu, e
}

func TestCreate(t *testing.T) {
	b := newBench(t, "")
	in := b.write(t, "in put.txt", "hello")
	specs := []workgen.Spec{
		{Params: workgen.Params{Name: "a", CommandLine: "-x <1>", MinQuorum: 2}, Inputs: []workgen.Given{{Path: in, Logical: "in"}}},
		{Params: workgen.Params{Name: "b", Batch: 3, Priority: 9}, Inputs: []workgen.Given{{Path: in}}},
	}
	names, err := b.generator(t).Create(t.Context(), specs, storetest.T0)
	if err != nil || strings.Join(names, " ") != "a b" {
		t.Fatalf("got %v, %v", names, err)
	}
	wu, e := b.workunit(t, "a")
	if wu.MinQuorum != 2 || wu.TargetNResults != 2 || !wu.TransitionTime.Equal(storetest.T0) || wu.ResultTemplateFile != "templates/upper_out" {
		t.Errorf("row %+v", wu)
	}
	if e.Workunits[0].CommandLine != "-x <1>" || e.Workunits[0].FileRefs[0].OpenName != "in" {
		t.Errorf("workunit %+v", e.Workunits[0])
	}
	f := e.Files[0]
	if f.NBytes != 5 || f.MD5 != "5d41402abc4b2a76b9719d911017c592" || f.Name != "in_put_5d41402abc4b2a76.txt" {
		t.Errorf("file %+v", f)
	}
	if n, err := b.files.Size(t.Context(), f.Name); err != nil || n != 5 {
		t.Errorf("in download: %d, %v", n, err)
	}
	if _, e := b.workunit(t, "b"); e.Workunits[0].FileRefs[0].OpenName != "in put.txt" {
		t.Errorf("the default logical name is %q", e.Workunits[0].FileRefs[0].OpenName)
	}
}

func TestCreateIsAllOrNothing(t *testing.T) {
	b := newBench(t, "")
	g := b.generator(t)
	named := func(name, after string) workgen.Spec {
		return workgen.Spec{Params: workgen.Params{Name: name}, Predecessor: after}
	}
	for _, tt := range []struct {
		specs []workgen.Spec
		bad   int
		want  error
	}{
		{[]workgen.Spec{named("a", ""), named("a", "")}, 1, store.ErrExists},
		{[]workgen.Spec{named("a", ""), named("b", ""), named("c", "b"), named("d", "c"), named("e", ""), named("a", "")}, 5, store.ErrExists},
		{[]workgen.Spec{named("a", ""), named("b", "a"), named("b", "a")}, 2, store.ErrExists},
		{[]workgen.Spec{named("a", ""), named("b", "c"), named("c", "")}, 1, store.ErrNotFound},
	} {
		_, err := g.Create(t.Context(), tt.specs, storetest.T0)
		if bad, ok := errors.AsType[*workgen.SpecError](err); !ok || bad.Index != tt.bad || !errors.Is(err, tt.want) {
			t.Errorf("got %+v, want the fault %v of workunit %d", err, tt.want, tt.bad)
		}
		err = b.store.View(t.Context(), func(tx *store.View) error {
			_, err := tx.WorkunitByName("a")
			return err
		})
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the first is there: %v", err)
		}
	}
}

// The same name with other content is another file.
func TestInputsAreImmutable(t *testing.T) {
	b := newBench(t, "")
	g := b.generator(t)
	for name, text := range map[string]string{"a": "one", "b": "two"} {
		in := b.write(t, "in", text)
		if _, err := g.Create(t.Context(), []workgen.Spec{{Params: workgen.Params{Name: name}, Inputs: []workgen.Given{{Path: in}}}}, storetest.T0); err != nil {
			t.Fatal(err)
		}
		must(t, os.Remove(in))
	}
	_, a := b.workunit(t, "a")
	_, c := b.workunit(t, "b")
	if a.Files[0].Name == c.Files[0].Name {
		t.Errorf("both have the file %s", a.Files[0].Name)
	}
}

const goodInput = `<input_template>
<file_info><number>0</number></file_info>
<file_info><number>1</number><sticky/><no_delete/></file_info>
<workunit>
    <file_ref><file_number>1</file_number><open_name>table</open_name><copy_file/></file_ref>
    <file_ref><file_number>0</file_number><open_name>in</open_name></file_ref>
    <command_line>-t</command_line>
    <min_quorum>3</min_quorum>
    <rsc_fpops_est>1e9</rsc_fpops_est>
</workunit>
</input_template>`

func TestInputTemplate(t *testing.T) {
	b := newBench(t, goodInput)
	g := b.generator(t)
	given := []workgen.Given{{Path: b.write(t, "x", "x")}, {Path: b.write(t, "y", "y")}}
	_, err := g.Create(t.Context(), []workgen.Spec{{Params: workgen.Params{Name: "a", MinQuorum: 1}, Inputs: given}}, storetest.T0)
	must(t, err)
	wu, e := b.workunit(t, "a")
	if wu.MinQuorum != 3 || wu.RscFpopsEst != 1e9 || e.Workunits[0].CommandLine != "-t" {
		t.Errorf("the template does not go over the flags: %+v", wu)
	}
	refs := e.Workunits[0].FileRefs
	if refs[0].OpenName != "in" || refs[1].OpenName != "table" || !refs[1].CopyFile || refs[0].CopyFile || !e.Files[1].Sticky {
		t.Errorf("refs %+v, files %+v", refs, e.Files)
	}
	for name, inputs := range map[string][]workgen.Given{"too few": given[:1], "too many": append(given, given[0])} {
		if _, err := g.Create(t.Context(), []workgen.Spec{{Inputs: inputs}}, storetest.T0); err == nil || !strings.Contains(err.Error(), "input files are given") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestBadInputTemplates(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"an unknown file", "<file_number>1</file_number>", "<file_number>7</file_number>", "file number 7"},
		{"a file twice", "<number>1</number>", "<number>0</number>", "two <file_info>"},
		{"no workunit", "workunit>", "werkunit>", "0 <workunit> elements"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := workgen.ParseInput("t", strings.ReplaceAll(goodInput, tt.old, tt.new)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func FuzzTemplates(f *testing.F) {
	f.Add(goodOutput)
	f.Add(goodInput)
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = workgen.ParseOutput("t", text)
		_, _ = workgen.ParseInput("t", text)
	})
}

func BenchmarkCreate(b *testing.B) {
	dir := b.TempDir()
	st := storetest.Open(b, dir)
	files, err := blob.Open(filepath.Join(dir, "download"))
	must(b, err)
	app := store.App{Name: "upper", Validator: "trivial", Assimilator: "copy"}
	storetest.Update(b, st, func(tx *store.Tx) (err error) {
		app.ID, err = tx.InsertApp(app)
		return err
	})
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "templates", "upper_out")
	must(b, errors.Join(os.WriteFile(in, []byte("x"), 0o600), os.Mkdir(filepath.Dir(out), 0o700), os.WriteFile(out, []byte(goodOutput), 0o600)))
	g, err := workgen.New(st, files, dir, app, storetest.T0)
	must(b, err)
	specs := make([]workgen.Spec, 1000)
	for i := range specs {
		specs[i].Inputs = []workgen.Given{{Path: in}}
	}
	for b.Loop() {
		if _, err := g.Create(b.Context(), specs, storetest.T0); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(specs))/b.Elapsed().Seconds(), "workunits/s")
}

var must = testerr.Must
