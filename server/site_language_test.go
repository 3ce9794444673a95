package server_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/quotedprintable"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/server/workgen"
)

var (
	markup = regexp.MustCompile(`(?s)<!--.*?-->|<code>.*?</code>|<[^>]*>`)
	word   = regexp.MustCompile(`\pL{2,}`)
)

// same are texts that are the same in English and German, and texts of the project, its volunteers and
// their computers.
var same = []string{
	"AMD GPUs", "Ada", "Apple GPUs", "BOINC", "CPUs", "Computer", "Demo", "GPUs", "Intel GPUs", "NVIDIA GPUs", "Name", "Number 7", "Starling", "Status", "System",
	"Team", "Teams", "The Starlings", "Token", "Workunits", "ada@example.org", "attic", "Tomorrow & <more>", "We count.", "Linux running on an AMD x86_64 or Intel EM64T CPU", "upper", "wu_0",
	"Be kind.", "Terms",
}

// textsOf returns the texts of a page, with their words alone.
func textsOf(page string) map[string]bool {
	texts := make(map[string]bool)
	for _, text := range markup.Split(page, -1) {
		if text = strings.TrimSpace(text); word.MatchString(text) {
			texts[text] = true
		}
	}
	return texts
}

// A visitor sees the site in the language of the browser: all of it is in German, except for the project's
// texts, and in English for those whose language it does not have.
func TestSiteInGerman(t *testing.T) {
	t.Parallel()
	w, v := newSite(t, lowBadges...)
	w.setUp()
	for name, text := range map[string]string{
		"home.md": "# Number 7\n\nWe count.", "terms.md": "# Terms\n\nBe kind.", "news/2026-11-20-start.md": "# Tomorrow &amp; &lt;more&gt;\n\nWe count.",
	} {
		p := filepath.Join(w.dir, "site", name)
		w.must(errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o600)))
	}
	english, german := []string{"Accept-Language", "fr-CH, fr;q=0.9"}, []string{"Accept-Language", "de-AT, en;q=0.5"}
	v.wants(422, "<h1>Registrieren</h1>", "Das Passwort ist zu kurz: es braucht mindestens 6 Zeichen.")(v.do("POST", "signup", url.Values{"email": {"a@example.org"}, "password": {"x"}, "terms": {"on"}}, german...))
	v.wants(200, "<h1>Ihr Konto</h1>")(v.do("POST", "signup", url.Values{"email": {"ada@example.org"}, "password": {"long enough"}, "name": {"Ada"}, "terms": {"on"}}, german...))
	v.wants(200, "The Starlings")(v.do("POST", "teams", url.Values{"name": {"The Starlings"}}))
	w.create(workgen.Params{Name: "wu", MinQuorum: 1, RscFpopsEst: 4.32e13}, "hello")
	c := &client{w: w, key: w.userByEmail("ada@example.org").Authenticator, name: "attic"}
	c.compute(c.fetch())
	v.wants(200)(v.do("GET", "status", nil)) // counts, so that the home page need not wait for that

	for _, page := range []string{
		"", "join", "news", "signup", "login", "forgot", "status", "leaders", "leaders?of=teams&by=recent", "leaders?of=computers", "teams", "team?id=1", "user?id=1", "account",
		"settings", "preferences", "preferences?venue=work", "computers", fmt.Sprintf("computer?id=%d", c.host), "task?id=1", "task?id=99", "batches", "confirm?token=1", "reset?token=1",
	} {
		var texts []map[string]bool
		for _, in := range [][]string{english, german, english, german} {
			_, body := v.do("GET", page, nil, in...)
			if lang := in[1][:2]; !strings.Contains(body, `<html lang="de">`) == (lang == "de") || !strings.Contains(body, `<html lang="en">`) == (lang == "fr") {
				t.Errorf("%q asked in %s is %.60s", page, lang, body)
			}
			texts = append(texts, textsOf(body))
		}
		if !maps.Equal(texts[0], texts[2]) || !maps.Equal(texts[1], texts[3]) {
			t.Errorf("%q depends on the language of the request before: %v", page, texts)
		}
		for text := range texts[1] {
			shown := strings.TrimPrefix(text, "Demo: ")
			if texts[0][text] && !slices.Contains(same, strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">").Replace(shown)) && !strings.Contains(shown, "://") && !strings.Contains(shown, "(CPU ") {
				t.Errorf("%q has this text in both languages: %s", page, text)
			}
		}
	}
	v.wants(200, "<h1>Number 7</h1>", "100 % der Arbeit erledigt", "1 von 1 Workunits", "Tomorrow &amp; &lt;more&gt;", "Ihr Konto")(v.do("GET", "", nil, german...))
	res := w.do("GET", v.base, nil)
	w.must(res.Body.Close())
	if got := res.Header.Get("Vary"); got != "Accept-Language" {
		t.Errorf("Vary is %q", got)
	}

	// Numbers have a decimal comma, in forms as well.
	form := url.Values{"what": {"project"}, "resource_share": {"0,5"}, "use": {"CPU"}}
	v.wants(200, `value="0,5"`, "Die Einstellungen wurden gespeichert.")(v.do("POST", "preferences", form, german...))
	v.wants(200, `value="0.5"`)(v.do("GET", "preferences", nil, english...))
	v.wants(200, "must be a number")(v.do("POST", "preferences", form, english...))

	v.wants(200, "mit einem Link geschickt")(v.do("POST", "forgot", url.Values{"email": {"ada@example.org"}}, german...))
	client := "create_account.php?email_addr=bob@example.org&user_name=Bob&passwd_hash=" + strings.Repeat("0", 32)
	v.wants(200, "<authenticator>")(v.do("GET", client, nil, german...))
	for _, words := range []string{"öffnen Sie innerhalb einer Stunde diesen Link", "Sie haben ein Konto bei Demo"} {
		testwait.Until(t, "a mail: "+words, func() bool {
			paths, err := filepath.Glob(filepath.Join(w.dir, "mail", "*.eml"))
			w.must(err)
			return slices.ContainsFunc(paths, func(path string) bool {
				b, err := os.ReadFile(path)
				w.must(err)
				text, _ := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(b)))
				return bytes.Contains(text, []byte(words))
			})
		})
	}
}
