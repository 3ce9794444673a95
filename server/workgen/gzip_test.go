package workgen_test

import (
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/workgen"
)

const packedInput = `<input_template>
<file_info><number>0</number><gzip/></file_info>
<workunit><file_ref><file_number>0</file_number><open_name>in</open_name></file_ref></workunit>
</input_template>`

// A file whose template has <gzip/> gets a compressed copy, once, if that is smaller.
func TestCompressedInputs(t *testing.T) {
	b := newBench(t, packedInput)
	long, short := strings.Repeat("starling\n", 1000), "x"
	create := func(name string, in workgen.Given) (err error) {
		t.Helper()
		_, err = b.generator(t).Create(t.Context(), []workgen.Spec{{Params: workgen.Params{Name: name}, Inputs: []workgen.Given{in}}}, storetest.T0)
		return err
	}
	unpacked := func(name string) string {
		t.Helper()
		f, err := b.files.Open(t.Context(), name)
		must(t, err)
		defer f.Close()
		z, err := gzip.NewReader(f)
		must(t, err)
		text, err := io.ReadAll(z)
		must(t, err)
		return string(text)
	}
	path := b.write(t, "in", long)
	must(t, create("a", workgen.Given{Path: path}))
	_, e := b.workunit(t, "a")
	f := e.Files[0]
	size, err := b.files.Size(t.Context(), blob.Packed(f.Name))
	if err != nil || size != f.GzippedNBytes || size >= f.NBytes || f.NBytes != int64(len(long)) || len(f.GzippedURLs) > 0 {
		t.Fatalf("%+v, compressed %d bytes, %v", f, size, err)
	}
	if unpacked(blob.Packed(f.Name)) != long {
		t.Error("the copy holds something else")
	}
	// The copy is one of the workunit's files, so that it is deleted when it is no longer needed.
	if needed := storetest.Get(t, b.store, (*store.View).FileNeeded, blob.Packed(f.Name)); !needed {
		t.Error("the copy belongs to nobody")
	}
	// An existing copy is used. A missing one is made again, with the same content.
	for _, gone := range []bool{false, true} {
		if gone {
			must(t, b.files.Remove(t.Context(), blob.Packed(f.Name)))
		}
		name := map[bool]string{false: "b", true: "c"}[gone]
		must(t, create(name, workgen.Given{Path: f.Name, Kind: workgen.Staged}))
		if _, e := b.workunit(t, name); e.Files[0].GzippedNBytes != size || unpacked(blob.Packed(f.Name)) != long {
			t.Errorf("%s: %+v", name, e.Files[0])
		}
	}
	must(t, create("d", workgen.Given{Path: b.write(t, "short", short)}))
	_, e = b.workunit(t, "d")
	if _, err := b.files.Size(t.Context(), blob.Packed(e.Files[0].Name)); e.Files[0].GzippedNBytes != 0 || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that grows: %+v, %v", e.Files[0], err)
	}
	// Another file with this name is not taken for the copy.
	for name, text := range map[string]string{"other": "not gzip", "other2": ""} {
		if _, err := b.files.Put(t.Context(), name, strings.NewReader(long)); err != nil {
			t.Fatal(err)
		}
		if _, err := b.files.Put(t.Context(), blob.Packed(name), strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if err := create("e"+name, workgen.Given{Path: name, Kind: workgen.Staged}); err == nil || !strings.Contains(err.Error(), "is not a compressed copy") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestOnlyWhatIsHereIsCompressed(t *testing.T) {
	for _, old := range []string{"<generated_locally/>", "<url>http://192.0.2.9/a</url><nbytes>5</nbytes><md5_cksum>5d41402abc4b2a76b9719d911017c592</md5_cksum>"} {
		if _, err := workgen.ParseInput("t", strings.ReplaceAll(packedInput, "<gzip/>", "<gzip/>"+old)); err == nil || !strings.Contains(err.Error(), "<gzip/> is for files that this server sends") {
			t.Errorf("%s: got %v", old, err)
		}
	}
}
