package bxml_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol/bxml"
)

func TestWhatPeersWrite(t *testing.T) {
	const in = `garbage before <root>
<!-- a comment with <n>9</n> in it -->
<?pi <n>8</n> ?>
<s>a &lt;b&gt; &amp; &quot;c&quot; &#65; & &unknown;</s>
<n> 17 </n><hex>0x10</hex><neg>-5</neg><float>2.50</float><big>3000000000.000000</big>
<flag/><one>1</one><zero>0</zero><blank></blank>
<attr priority="low">hello</attr>
<cdata><![CDATA[</cdata-not> <n>7</n>]]></cdata>
<unknown><n>6</n><unknown>deep</unknown></unknown>
<bad>12 monkeys</bad>
</stray>
<last>end</last>
</root> and behind`
	s := bxml.NewScanner([]byte(in))
	if err := s.Find("root"); err != nil {
		t.Fatal(err)
	}
	var n, hex, neg, big, blank, bad int64 = 0, 0, 0, 0, 99, 42
	var f float64
	got := map[string]string{}
	flags := map[string]bool{}
	for name := range s.Children() {
		switch name {
		case "s", "cdata", "last":
			got[name] = s.Text()
		case "n":
			s.Int(&n)
		case "hex":
			s.Int(&hex)
		case "neg":
			s.Int(&neg)
		case "big":
			s.Int(&big)
		case "blank":
			s.Int(&blank)
		case "bad":
			s.Int(&bad)
		case "float":
			s.Float(&f)
		case "flag", "one", "zero":
			flags[name] = s.Flag()
		case "attr":
			got["priority"] = s.Attr("priority")
			got[name] = s.Text()
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"s": `a <b> & "c" A & &unknown;`, "last": "end", "attr": "hello", "priority": "low",
		"cdata": "</cdata-not> <n>7</n>",
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
	if n != 17 || hex != 16 || neg != -5 || big != 3000000000 || blank != 0 || bad != 42 || f != 2.5 {
		t.Errorf("numbers: n %d hex %d neg %d big %d blank %d bad %d float %v", n, hex, neg, big, blank, bad, f)
	}
	if !flags["flag"] || !flags["one"] || flags["zero"] {
		t.Errorf("flags: %v", flags)
	}
}

func TestWhatIsCutOffIsAnError(t *testing.T) {
	const whole = "<root><a><b>1</b></a><c>text</c></root>"
	for n := range len(whole) {
		s := bxml.NewScanner([]byte(whole[:n]))
		err := s.Find("root")
		if err == nil {
			for name := range s.Children() {
				if name == "a" {
					for range s.Children() {
						s.Text()
					}
				}
			}
			err = s.Err()
		}
		if err == nil {
			t.Errorf("%q was read without an error", whole[:n])
		}
	}
	if err := bxml.NewScanner([]byte("<html>")).Find("root"); !errors.Is(err, bxml.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestEnterShowsTheChildrenOfAnUnknownWrapper(t *testing.T) {
	s := bxml.NewScanner([]byte("<root><wrap><name>x</name></wrap></root>"))
	if err := s.Find("root"); err != nil {
		t.Fatal(err)
	}
	got := ""
	for name := range s.Children() {
		if name == "name" {
			got = s.Text()
		} else {
			s.Enter()
		}
	}
	if got != "x" || s.Err() != nil {
		t.Errorf("got %q, %v", got, s.Err())
	}
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	hostile := "a<b>&c ]]> </text> \x00\xff"
	var w bxml.Writer
	w.Open("root")
	w.Text("text", hostile)
	w.Open("out")
	w.CDATA(hostile)
	w.Close("out")
	w.Close("root")
	s := bxml.NewScanner(w.Bytes())
	if err := s.Find("root"); err != nil {
		t.Fatal(err)
	}
	for name := range s.Children() {
		if got, want := s.Text(), hostile; name == "text" && got != want {
			t.Errorf("text: got %q, want %q", got, want)
		} else if name == "out" && strings.ReplaceAll(got, "]] >", "]]>") != want {
			t.Errorf("CDATA: got %q, want %q", got, want)
		}
	}
}

func FuzzScanner(f *testing.F) {
	f.Add([]byte("<a><b x='1'>t</b><c/><![CDATA[x]]></a>"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		s := bxml.NewScanner(b)
		if s.Find("a") != nil {
			return
		}
		for name := range s.Children() {
			switch len(name) % 5 {
			case 0:
				s.Text()
			case 1:
				s.Attr("x")
				s.Enter()
			case 2:
				for range s.Children() {
					s.Flag()
				}
			case 3:
				s.Raw()
			}
		}
	})
}
