package bxml_test

import (
	"errors"
	"testing"

	"github.com/starling-grid/starling/protocol/bxml"
)

type sample struct {
	Name, Label, Note string
	N                 int64
	X, Extra          float64
	On, Set           bool
	Inner             *sample
}

func (v *sample) fields(x bxml.Codec) {
	opt := x.Optional()
	x.Text("name", &v.Name)
	opt.Line("label", &v.Label, 10)
	x.WriteIf(false).Head("note", &v.Note, 4)
	opt.Int("n", &v.N)
	x.Float("x", &v.X)
	opt.Float("extra", &v.Extra)
	x.Bool("on", &v.On)
	x.Flag("set", &v.Set)
	if x.Reading("inner") != nil {
		v.Inner = new(sample)
	}
	if v.Inner != nil {
		x.Element("inner", v.Inner.fields)
	}
}

func TestCodecWritesFieldsInOrder(t *testing.T) {
	for _, c := range []struct {
		v    sample
		want string
	}{
		{sample{Name: "a<b", Label: "l", Note: "never written", N: 2, X: 1.5, Extra: 3, On: true, Set: true}, `<v>
<name>a&lt;b</name>
<label>l</label>
<n>2</n>
<x>1.500000</x>
<extra>3.000000</extra>
<on>1</on>
<set/>
</v>
`},
		{sample{N: -1, Extra: -1, Inner: &sample{}}, `<v>
<name></name>
<x>0.000000</x>
<on>0</on>
<inner>
<name></name>
<x>0.000000</x>
<on>0</on>
</inner>
</v>
`},
	} {
		var w bxml.Writer
		w.Element("v", c.v.fields)
		if got := string(w.Bytes()); got != c.want {
			t.Errorf("%+v: got\n%swant\n%s", c.v, got, c.want)
		}
	}
}

// Fields are read in any order. Other elements are skipped, together with their children, and a
// field after a nested element belongs to the outer one.
func TestCodecReadsFieldsByName(t *testing.T) {
	text := `<v><set/><other><n>9</n></other><on>1</on>
		<inner><x>7</x><inner><n>3</n></inner><name>in</name></inner>
		<n>-5</n><note>abcdef</note><label> two  words </label><name>out</name></v>`
	var v sample
	if err := bxml.NewScanner([]byte(text)).Decode("v", v.fields); err != nil || v.Name != "out" || v.N != -5 || v.Note != "abcd" || v.Label != "two words" || !v.On || !v.Set || v.X != 0 {
		t.Errorf("got %+v, %v", v, err)
	}
	if in := v.Inner; in == nil || in.Name != "in" || in.X != 7 || in.Inner == nil || in.Inner.N != 3 || in.N != 0 {
		t.Errorf("inner is %+v", in)
	}
}

func TestUsedReportsWhetherAFieldWasRead(t *testing.T) {
	s := bxml.NewScanner([]byte(`<v><set/><other/><inner><other>1</other></inner><unknown>1</unknown><n></n></v>`))
	if err := s.Find("v"); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"set": true, "inner": true, "n": true}
	for name := range s.Children() {
		new(sample).fields(s.Child())
		if s.Used() != want[name] {
			t.Errorf("%s: used is %v", name, s.Used())
		}
	}
}

func TestCodecReportsATruncatedElement(t *testing.T) {
	var v sample
	if err := bxml.NewScanner([]byte(`<v><name>a</name><inner><n>1</n>`)).Decode("v", v.fields); err == nil {
		t.Error("no error")
	}
}

func TestDecodeReportsAMissingElement(t *testing.T) {
	var v sample
	if err := bxml.NewScanner([]byte(`<html><name>a</name></html>`)).Decode("v", v.fields); !errors.Is(err, bxml.ErrNotFound) || v.Name != "" {
		t.Errorf("got %+v, %v", v, err)
	}
}
