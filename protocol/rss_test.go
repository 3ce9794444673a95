package protocol_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
)

func TestParseFeed(t *testing.T) {
	at := time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)
	for _, tt := range []struct {
		name, text string
		want       []protocol.NewsItem
	}{
		{"as BOINC's servers write it", `<?xml version="1.0" encoding="UTF-8" ?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>P</title>
<atom:link href="https://p.example/rss_main.php" rel="self" />
<item>
  <title><![CDATA[New & <i>old</i>]]></title>
  <link>https://p.example/forum_thread.php?id=7&amp;x=1</link>
  <guid isPermaLink="true">https://p.example/forum_thread.php?id=7</guid>
  <description><![CDATA[<p>Hello</p> </item> it's]]></description>
  <pubDate>Fri, 20 Nov 2026 09:30:00 GMT</pubDate>
</item>
<item><title>Second</title></item>
</channel></rss>`, []protocol.NewsItem{
			{GUID: "https://p.example/forum_thread.php?id=7", Title: "New & <i>old</i>", Link: "https://p.example/forum_thread.php?id=7&x=1", Description: "<p>Hello</p> </item> it's", Date: at},
			{Title: "Second"},
		}},
		{"in Latin-1", "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><rss><channel><item><title>Gr\xfc\xdfe</title><pubDate>nonsense</pubDate></item></channel></rss>", []protocol.NewsItem{{Title: "Grüße"}}},
		{"with what steers terminals", "<rss><channel><item><title>a\x1b[31mb\nc</title><guid>g</guid></item></channel></rss>", []protocol.NewsItem{{Title: "a[31mb c", GUID: "g"}}},
		{"empty", "<rss><channel><title>x</title></channel></rss>", nil},
	} {
		got, err := protocol.ParseFeed([]byte(tt.text))
		for i := range got {
			got[i].Date = got[i].Date.UTC()
			if got[i].Date.IsZero() {
				got[i].Date = time.Time{}
			}
		}
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, %v; want %+v", tt.name, got, err, tt.want)
		}
	}
	for name, text := range map[string]string{
		"a web page": "<!doctype html><html><body>Log in</body></html>", "nothing": "", "cut": "<rss><channel><item><title>a</title></item><item><title>b",
	} {
		if got, err := protocol.ParseFeed([]byte(text)); err == nil {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	many := "<rss><channel>" + strings.Repeat("<item><title>x</title></item>", 10000) + "</channel></rss>"
	if got, err := protocol.ParseFeed([]byte(many)); err != nil || len(got) != 200 {
		t.Errorf("of 10000 items %d are taken, %v", len(got), err)
	}
}
