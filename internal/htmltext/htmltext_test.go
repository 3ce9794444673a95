package htmltext_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/starling-grid/starling/internal/htmltext"
)

func TestText(t *testing.T) {
	for _, tt := range []struct{ html, want string }{
		{"", ""},
		{"Plain  text,\nas it is & < 3", "Plain text, as it is & < 3"},
		{"<p>One.</p>\n<p>Two <b>and</b> <i>a half</i>.</p>", "One.\n\nTwo and a half."},
		{"a<br>b<br/>c", "a\nb\nc"},
		{"<ul><li>first<li>second</li></ul>end", "• first\n• second\n\nend"},
		{`See <a href="https://p.example/x?a=1&amp;b=2">the page</a>!`, "See the page (https://p.example/x?a=1&b=2)!"},
		{`<a href="https://p.example/">https://p.example/</a>`, "https://p.example/"},
		{`<a href="javascript:alert(1)">click</a> <a href="/relative">here</a>`, "click here"},
		{`<script>alert("x")</script>before<style>p { color: red }</style> after<script src="x">`, "before after"},
		{`<img src="x" onerror="alert(1)" alt="a map"> of <img src=y>`, "a map of"},
		{"&#8220;Quoted&#8221; &amp;amp; &eacute;", "“Quoted” &amp; é"},
		{"\x1b[31mred\x1b[0m \u202eturned", "[31mred[0m turned"},
		{"<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"},
		{"<p>unclosed <b>bold <a href='https://q.example'", "unclosed bold"},
		{"<![CDATA[x]]><!-- hidden -->y", "y"},
	} {
		if got := htmltext.Text(tt.html, 1000); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.html, got, tt.want)
		}
	}
	if got := htmltext.Text("<p>ääää</p>", 7); got != "ää…" {
		t.Errorf("bounded: %q", got)
	}
	if got := htmltext.Title("R&amp;D:\n<more> &#8211; \x1b[31m&#27;x", 100); got != "R&D: <more> – [31mx" {
		t.Errorf("a title: %q", got)
	}
}

// Whatever strangers write becomes a text of bounded size without control characters.
func FuzzText(f *testing.F) {
	f.Add("<p>One <a href='https://p.example/'>two</a><script>x</script>&#27;[1m")
	f.Fuzz(func(t *testing.T, source string) {
		for _, got := range []string{htmltext.Text(source, 1000), htmltext.Title(source, 1000)} {
			if len(got) > 1000 || !utf8.ValidString(got) || strings.ContainsFunc(got, func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }) {
				t.Errorf("%q became %q", source, got)
			}
		}
	})
}
