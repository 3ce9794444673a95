package words

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// A Language is one in which Starling can write, by its BCP 47 tag.
type Language string

// English is the language of the program, of logs and of JSON.
const English Language = "en"

// catalogs has a folder for each language, with files of English texts and their translations:
// agent.json, site.json for a project's site, and dashboard.json, which the dashboard's page reads,
// too. A translation is a string, or an object of strings by plural category (CLDR: "one", "other" …).
//
//go:embed catalog
var catalogs embed.FS

// languages are all languages, English first.
var languages = func() []Language {
	all := []Language{English}
	folders, err := catalogs.ReadDir("catalog")
	if err != nil {
		panic(err) // it is part of the binary
	}
	for _, f := range folders {
		all = append(all, Language(f.Name()))
	}
	return all
}()

// A translation is one text, by plural category. The category "other" is always there.
type translation map[string]string

// UnmarshalJSON reads a string or an object of strings.
func (t *translation) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = translation{"other": s}
		return nil
	}
	return json.Unmarshal(b, (*map[string]string)(t))
}

// loaded has the translations that were used so far, by language.
var loaded = func() map[Language]func() map[string]translation {
	all := make(map[Language]func() map[string]translation)
	for _, l := range languages {
		all[l] = sync.OnceValue(l.load)
	}
	return all
}()

// load reads the files of a language.
func (l Language) load() map[string]translation {
	all := make(map[string]translation)
	for _, name := range []string{"dashboard", "agent", "site"} {
		b := l.Catalog(name)
		if b == nil {
			continue
		}
		if err := json.Unmarshal(b, &all); err != nil {
			panic(fmt.Sprintf("catalog of %s, %s: %v", l, name, err)) // it is part of the binary
		}
	}
	return all
}

// translation returns the template for an English one, or "". n selects the plural.
func (l Language) translation(english string, n int) string {
	of := loaded[l]
	if of == nil {
		return ""
	}
	t := of()[english]
	if len(t) < 2 {
		return t["other"]
	}
	form := plural.Cardinal.MatchPlural(language.Make(string(l)), n, 0, 0, 0, 0)
	if s := t[forms[form]]; s != "" {
		return s
	}
	return t["other"]
}

var forms = map[plural.Form]string{plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many"}

// Catalog returns a file of a language as JSON, without its extension. It is nil if the language has
// no such file.
func (l Language) Catalog(name string) []byte {
	b, err := catalogs.ReadFile(path.Join("catalog", string(l), name+".json"))
	if err != nil {
		return nil
	}
	return b
}

var matcher = language.NewMatcher(func() (tags []language.Tag) {
	for _, l := range languages {
		tags = append(tags, language.Make(string(l)))
	}
	return tags
}())

// Preferred returns the language for a header Accept-Language. It is English if Starling cannot write
// in those that the header names.
func Preferred(accept string) Language {
	tags, _, err := language.ParseAcceptLanguage(accept)
	if err != nil {
		return English
	}
	_, i, _ := matcher.Match(tags...)
	return languages[i]
}

// OfTerminal returns the language that the environment of a command asks for, by the rules of POSIX and
// gettext: LC_ALL, LC_MESSAGES or LANG, and before these the list in LANGUAGE, unless they ask for C.
// get is os.Getenv.
func OfTerminal(get func(string) string) Language {
	locale := languageIn(cmp.Or(get("LC_ALL"), get("LC_MESSAGES"), get("LANG"), "C"))
	if locale == "C" || locale == "POSIX" {
		return English
	}
	var accept []string
	for _, l := range append(strings.Split(get("LANGUAGE"), ":"), locale) {
		if _, err := language.Parse(languageIn(l)); err == nil {
			accept = append(accept, languageIn(l))
		}
	}
	return Preferred(strings.Join(accept, ","))
}

// languageIn returns the language of a locale such as de_CH.UTF-8@euro.
func languageIn(locale string) string {
	locale, _, _ = strings.Cut(locale, ".")
	locale, _, _ = strings.Cut(locale, "@")
	return locale
}

type languageKey struct{}

// With returns a context of a request that is answered in a language.
func With(ctx context.Context, l Language) context.Context {
	return context.WithValue(ctx, languageKey{}, l)
}

// LanguageOf returns the language of a request, English by default.
func LanguageOf(ctx context.Context) Language {
	l, ok := ctx.Value(languageKey{}).(Language)
	if !ok {
		return English
	}
	return l
}

// Languages returns all languages, English first.
func Languages() []Language { return slices.Clone(languages) }
