package articles

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/words"
)

func write(t *testing.T, dir string, files map[string]string) Folder {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return Folder(dir)
}

func TestArticles(t *testing.T) {
	f := write(t, t.TempDir(), map[string]string{
		"home.md": "We look for **primes**.", "terms.md": "# Terms\n\nBe kind.", "science.md": "# Why & *how*\n\n![a prime](images/p.png) <script>alert(1)</script> [x](javascript:alert(1))\n\n| a | b |\n|--|--|\n| 1 | 2 |\n",
		"news/2026-11-20-first.md": "# First\n\nHello.", "news/2026-11-22-second.md": "Two.", "news/2999-01-01-later.md": "Later", "news/undated.md": "x",
		"images/p.png": "png", "notes.txt": "secret", "theme.css": ":root {}",
	})
	a, err := f.Page("science")
	if err != nil || a.Title != "Why & how" || !strings.Contains(string(a.HTML), "<table>") || !strings.Contains(string(a.HTML), `<img src="images/p.png" alt="a prime">`) {
		t.Errorf("got %+v, %v", a, err)
	}
	if strings.Contains(string(a.HTML), "<script") || strings.Contains(string(a.HTML), "javascript:") || strings.Contains(string(a.HTML), "<h1") {
		t.Errorf("markup that is not Markdown's, or the title twice: %s", a.HTML)
	}
	var menu []string
	for _, a := range f.Menu() {
		menu = append(menu, a.Name)
	}
	if strings.Join(menu, " ") != "science" {
		t.Errorf("in the menu: %v", menu)
	}
	news := f.News(time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC), 9)
	if len(news) != 2 || news[0].Title != "2026-11-22-second" || news[1].Title != "First" || news[1].Plain != "Hello." || news[1].Date.Day() != 20 {
		t.Errorf("news %+v", news)
	}
	for _, name := range []string{"../x", "Science", "none", ""} {
		if _, err := f.Page(name); !errors.Is(err, ErrNone) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A first page leads with its heading, first paragraph and first image, wherever that is. The rest
// follows.
func TestFront(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       Front
	}{
		{"nothing", "", Front{}},
		{"a sentence", "We look for **primes**.", Front{Lead: "<p>We look for <strong>primes</strong>.</p>"}},
		{"all", "# Melting ice\n\nHow fast?\n\n![A glacier](images/g.jpg)\n\n## Why\n\nBecause.", Front{
			"Melting ice", "<p>How fast?</p>", Picture{"images/g.jpg", "A glacier"}, "<h2>Why</h2>\n<p>Because.</p>",
		}},
		{"marks that are escaped", "# a\\_b &amp; &#65; `c\\_`", Front{Headline: "a_b & A c\\_"}},
		{"the image first", "# Ice\n\n![A glacier](g.jpg)\n\nHow fast?", Front{"Ice", "<p>How fast?</p>", Picture{"g.jpg", "A glacier"}, ""}},
		{"an image in the lead, and one more", "See ![a](a.png) here.\n\n![b](b.png)", Front{
			Lead: "<p>See  here.</p>", Picture: Picture{"a.png", "a"}, Rest: `<p><img src="b.png" alt="b"></p>`,
		}},
		{"a list first", "- one\n\nThen.", Front{Rest: "<ul>\n<li>one</li>\n</ul>\n<p>Then.</p>"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if a, err := render("home", []byte(tt.text)); err != nil || a.Front != tt.want {
				t.Errorf("got %+v, %v\nwant %+v", a.Front, err, tt.want)
			}
		})
	}
}

// A project that has written nothing has a first page all the same, whatever its name is.
func TestFirst(t *testing.T) {
	const name = `a_b_ *c* <d> [e](f) \ g`
	nothing := Folder("").Front(name, words.English)
	if nothing.Headline != "Your computer can help "+name || !strings.HasPrefix(string(nothing.Lead), "<p>This project divides") || nothing.Rest != "" {
		t.Errorf("got %+v", nothing)
	}
	if got := write(t, t.TempDir(), map[string]string{"home.md": First(name, words.English)}).Front("another", words.English); got != nothing {
		t.Errorf("as a file: %+v", got)
	}
	if got := write(t, t.TempDir(), map[string]string{"home.md": "We look."}).Front("X", words.English); got.Headline != "Your computer can help X" || got.Lead != "<p>We look.</p>" {
		t.Errorf("without a heading: %+v", got)
	}
}

// Only images and the theme are served as files.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	f := write(t, dir, map[string]string{"images/p.png": "png", "theme.css": "c", "notes.txt": "secret", "images/x.md": "x"})
	outside := filepath.Join(t.TempDir(), "keys")
	if err := errors.Join(os.WriteFile(outside, []byte("secret"), 0o600), os.Symlink(outside, filepath.Join(dir, "images", "link"))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"images/p.png": "png", "theme.css": "c", "notes.txt": "", "images/x.md": "", "images/../notes.txt": "", "images": "", "images/": "", "images/link": "", "/etc/passwd": "",
	} {
		got := ""
		if r, err := f.File(name); err == nil {
			b, _ := io.ReadAll(r)
			got = string(b)
			_ = r.Close()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if list := Folder(filepath.Join(dir, "none")).Menu(); list != nil {
		t.Errorf("a menu of nothing: %v", list)
	}
}

func TestTextOfOthers(t *testing.T) {
	if got := string(Text("# Hi\n<b>x</b> **y**")); strings.Contains(got, "<b>") || !strings.Contains(got, "<strong>y</strong>") {
		t.Errorf("got %s", got)
	}
}

// The rendered form of a file is shown until the file changes or is gone.
func TestChanges(t *testing.T) {
	dir := t.TempDir()
	f := write(t, dir, map[string]string{"science.md": "# One"})
	for _, want := range []string{"One", "One", "Another"} {
		if want == "Another" {
			write(t, dir, map[string]string{"science.md": "# Another"})
		}
		if a, err := f.Page("science"); err != nil || a.Title != want {
			t.Errorf("got %q, %v; want %q", a.Title, err, want)
		}
	}
	if err := os.Remove(filepath.Join(dir, "science.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Page("science"); !errors.Is(err, ErrNone) {
		t.Errorf("a file that is gone: %v", err)
	}
}
