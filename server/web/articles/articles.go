// Package articles reads a project's texts about itself: Markdown and images in the folder site/ of
// its directory. Every file is optional, and those that exist are shown.
//
//	site/home.md            the first page: its heading, first paragraph and first image lead
//	site/NAME.md            a page of its own, in the menu: science, people, imprint, …
//	site/terms.md           the terms of use, to which whoever signs up agrees
//	site/news/DATE-NAME.md  news, DATE as in 2026-11-23; also in RSS, and as notices in clients
//	site/images/…           images that these show, as images/NAME
//	site/images/icon.svg    the project's icon, for browsers
//	site/theme.css          the project's own colours
package articles

import (
	"bytes"
	"errors"
	"html/template"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/starling-grid/starling/internal/words"
)

// A Folder holds articles. It may not exist.
type Folder string

// An Article is a text, as HTML that holds no markup but Markdown's.
type Article struct {
	Name  string    // of its file, without .md
	Title string    // its first heading
	Date  time.Time // of news, zero for others
	HTML  template.HTML
	Plain string // the Markdown, without the title
	Front Front
}

// A Front is an article as a first page has it.
type Front struct {
	Headline string        // its heading, or ""
	Lead     template.HTML // its first paragraph
	Picture  Picture       // its first image
	Rest     template.HTML // all else
}

// A Picture is an image with its description. The zero Picture means no image.
type Picture struct{ URL, Text string }

// Names of articles with a special place. All others are in the menu.
const (
	Home  = "home"
	Terms = "terms"
)

const maxSize = 1 << 20 // bytes of an article

// ErrNone means that the article does not exist. It is fs.ErrNotExist.
var ErrNone = fs.ErrNotExist

var names = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,60}$`)

// Page returns an article, or ErrNone.
func (f Folder) Page(name string) (Article, error) {
	if !names.MatchString(name) {
		return Article{}, ErrNone
	}
	return f.read(name+".md", name)
}

// Menu returns the articles without a special place, sorted by file name.
func (f Folder) Menu() (list []Article) {
	for _, name := range f.list(".") {
		if name == Home || name == Terms {
			continue
		}
		if a, err := f.Page(name); err == nil {
			list = append(list, a)
		}
	}
	return list
}

// News returns the newest news, newest first. Files without a date in their name, or with a date in
// the future, are left out.
func (f Folder) News(now time.Time, limit int) (list []Article) {
	files := f.list("news")
	slices.Reverse(files)
	for _, name := range files {
		if len(list) >= limit {
			break
		}
		day, err := time.Parse("2006-01-02", name[:min(10, len(name))])
		if err != nil || day.After(now) {
			continue
		}
		if a, err := f.read("news/"+name+".md", name); err == nil {
			a.Date = day
			list = append(list, a)
		}
	}
	return list
}

// File opens an image, or the theme's style sheet, or returns ErrNone.
func (f Folder) File(name string) (fs.File, error) {
	if f == "" || !fs.ValidPath(name) || strings.HasSuffix(name, ".md") || name != "theme.css" && !strings.HasPrefix(name, "images/") {
		return nil, ErrNone
	}
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return nil, ErrNone
	}
	defer root.Close()
	file, err := root.Open(name)
	if err != nil {
		return nil, ErrNone
	}
	if st, err := file.Stat(); err != nil || !st.Mode().IsRegular() {
		_ = file.Close()
		return nil, ErrNone
	}
	return file, nil
}

// list returns the names of the articles in a folder, without .md, in order.
func (f Folder) list(dir string) (list []string) {
	if f == "" {
		return nil
	}
	entries, err := fs.ReadDir(os.DirFS(string(f)), dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if name, is := strings.CutSuffix(e.Name(), ".md"); is && names.MatchString(name) {
			list = append(list, name)
		}
	}
	return list
}

// markdown renders Markdown with tables. HTML within it is left out.
var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM))

func (f Folder) read(file, name string) (Article, error) {
	if f == "" {
		return Article{}, ErrNone
	}
	dir, file := os.DirFS(string(f)), path.Clean(file)
	st, err := fs.Stat(dir, file)
	if err != nil || st.Size() > maxSize {
		return Article{}, errors.Join(ErrNone, err)
	}
	key, now := path.Join(string(f), file), version{st.ModTime(), st.Size()}
	if old, ok := rendered.Load(key); ok && old.(kept).version == now {
		return old.(kept).Article, nil
	}
	b, err := fs.ReadFile(dir, file)
	if err != nil {
		return Article{}, errors.Join(ErrNone, err)
	}
	a, err := render(name, b)
	if err == nil {
		rendered.Store(key, kept{now, a})
	}
	return a, err
}

// rendered caches the rendered form of each file, since every page has the titles of all articles.
var rendered sync.Map // of kept, by path

// A version of a file.
type version struct {
	changed time.Time
	size    int64
}

type kept struct {
	version
	Article
}

// render makes an article of Markdown.
func render(name string, b []byte) (Article, error) {
	a := Article{Name: name, Title: name}
	doc := markdown.Parser().Parse(text.NewReader(b))
	plain := b
	if h, ok := doc.FirstChild().(*ast.Heading); ok {
		a.Title = textOf(h, b)
		a.Front.Headline = a.Title
		if lines := h.Lines(); lines.Len() > 0 {
			plain = b[lines.At(lines.Len()-1).Stop:]
		}
		doc.RemoveChild(doc, h)
	}
	a.Plain = strings.TrimSpace(string(plain))
	var err error
	if a.HTML, err = html(doc, b); err != nil {
		return a, err
	}
	a.Front.Picture = takePicture(doc, b)
	if lead, ok := doc.FirstChild().(*ast.Paragraph); ok {
		doc.RemoveChild(doc, lead)
		if a.Front.Lead, err = html(lead, b); err != nil {
			return a, err
		}
	}
	a.Front.Rest, err = html(doc, b)
	return a, err
}

func html(n ast.Node, source []byte) (template.HTML, error) {
	var out bytes.Buffer
	err := markdown.Renderer().Render(&out, source, n)
	return template.HTML(strings.TrimSpace(out.String())), err //nolint:gosec // goldmark leaves raw HTML and dangerous links out
}

// takePicture removes the first image from a document, with its paragraph if that has nothing else.
func takePicture(doc ast.Node, source []byte) (p Picture) {
	var first *ast.Image
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if image, ok := n.(*ast.Image); ok && entering {
			first = image
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	if first == nil {
		return p
	}
	p = Picture{string(first.Destination), textOf(first, source)}
	in := first.Parent()
	in.RemoveChild(in, first)
	if _, paragraph := in.(*ast.Paragraph); paragraph && !in.HasChildren() {
		in.Parent().RemoveChild(in.Parent(), in)
	}
	return p
}

// Text makes HTML of Markdown that was not written by the project.
func Text(source string) template.HTML {
	a, err := render("", []byte(source))
	if err != nil {
		return ""
	}
	return a.HTML
}

func textOf(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := c.(*ast.Text); ok && entering {
			value := t.Segment.Value(source)
			if c.Parent().Kind() != ast.KindCodeSpan {
				value = util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(value)))
			}
			b.Write(value)
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// Themed reports whether the project has its own colors.
func (f Folder) Themed() bool {
	file, err := f.File("theme.css")
	if err != nil {
		return false
	}
	return file.Close() == nil
}

// First is the home page of a project that has not written one, in Markdown and a language.
func First(project string, l words.Language) string {
	return "# " + markup.ReplaceAllString(headline(project).In(l), `\$0`) + "\n\n" + lead.In(l) + "\n"
}

func headline(project string) words.Text {
	return words.T("Your computer can help {project}", "project", project)
}

var lead = words.T(`This project divides a large computation into small tasks. Volunteers' computers work on them in the background and send
the results back.`)

// markup matches the characters that have a meaning in Markdown.
var markup = regexp.MustCompile("[\\\\`*_{}\\[\\]<>#|~]")

// Front returns the project's home page, or else its first one in a language. It has a headline.
func (f Folder) Front(project string, l words.Language) Front {
	a, err := f.Page(Home)
	if err != nil {
		a, _ = render(Home, []byte(First(project, l))) // not a file, so it cannot fail
	}
	if a.Front.Headline == "" {
		a.Front.Headline = headline(project).In(l)
	}
	return a.Front
}
