package pages

import (
	"encoding/xml"
	"io/fs"
	"net/http"
	"path"
	"time"

	"github.com/starling-grid/starling/internal/look"
	"github.com/starling-grid/starling/server/web/articles"
)

// newsShown is the number of news items on the page and in RSS.
const newsShown = 30

// read shows an article of the project's own.
func (p *Pages) read(w http.ResponseWriter, r *http.Request) {
	a, err := p.Articles.Page(r.URL.Query().Get("name"))
	if err != nil {
		p.nothing(w, r)
		return
	}
	p.show(w, r, http.StatusOK, "read.html", map[string]any{"Title": a.Title, "Here": a.Name, "Article": a})
}

func (p *Pages) news(w http.ResponseWriter, r *http.Request) {
	p.show(w, r, http.StatusOK, "news.html", map[string]any{"News": p.Articles.News(time.Now(), newsShown)})
}

// The form of RSS 2.0.
type (
	feed struct {
		XMLName xml.Name `xml:"rss"`
		Version string   `xml:"version,attr"`
		Channel channel  `xml:"channel"`
	}
	channel struct {
		Title       string `xml:"title"`
		Link        string `xml:"link"`
		Description string `xml:"description"`
		Items       []item `xml:"item"`
	}
	item struct {
		Title       string `xml:"title"`
		Link        string `xml:"link"`
		GUID        string `xml:"guid"`
		Description string `xml:"description"`
		Date        string `xml:"pubDate"`
	}
)

// rss is the news for clients, which show it as notices, and for readers of RSS.
func (p *Pages) rss(w http.ResponseWriter, _ *http.Request) {
	f := feed{Version: "2.0", Channel: channel{Title: p.Name, Link: p.Gate.MasterURL, Description: "News of " + p.Name}}
	for _, a := range p.Articles.News(time.Now(), newsShown) {
		at := p.Gate.MasterURL + "news#" + a.Name
		f.Channel.Items = append(f.Channel.Items, item{
			Title: a.Title, Link: at, GUID: at, Description: string(a.HTML), Date: a.Date.Format(time.RFC1123Z),
		})
	}
	w.Header().Set("Content-Type", "application/rss+xml; charset=utf-8")
	_, _ = w.Write([]byte(xml.Header))
	_ = xml.NewEncoder(w).Encode(f)
}

// siteFile serves an image of the articles, or the project's colours.
func (p *Pages) siteFile(w http.ResponseWriter, r *http.Request) {
	name := "theme.css"
	if image := r.PathValue("name"); image != "" {
		name = "images/" + image
	}
	p.serve(w, r, name, http.NotFound)
}

// icon is the project's own, site/images/icon.svg, or else Starling's.
func (p *Pages) icon(w http.ResponseWriter, r *http.Request) {
	p.serve(w, r, "images/icon.svg", look.Icon)
}

// serve serves a file of the articles, or calls without if it does not exist.
func (p *Pages) serve(w http.ResponseWriter, r *http.Request, name string, without http.HandlerFunc) {
	f, err := p.Articles.File(name)
	if err != nil {
		without(w, r)
		return
	}
	defer f.Close()
	st, err := f.Stat()
	content, ok := f.(interface {
		fs.File
		Seek(offset int64, whence int) (int64, error)
	})
	if err != nil || !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "max-age=3600")
	http.ServeContent(w, r, path.Base(name), st.ModTime(), content)
}

// terms reports whether there are terms of use to agree to.
func (p *Pages) terms() bool {
	_, err := p.Articles.Page(articles.Terms)
	return err == nil
}
