package project

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/setting"
)

// docs/server-settings.md lists the settings. UPDATE=1 writes it.
func TestPage(t *testing.T) {
	const file = "../../docs/server-settings.md"
	want := settingsPage()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(file); err != nil || strings.ReplaceAll(string(b), "\r\n", "\n") != want {
		t.Errorf("%s is not up to date (%v); run UPDATE=1 go test ./server/project", file, err)
	}
}

const pageHead = "# server.toml\n\n" +
	"`init` writes this file with all keys in this order, each with its meaning and default. A key that exists in BOINC\n" +
	"has the name it has in BOINC's `config.xml`. A limit of 0 means no limit. The server reads the file when it\n" +
	"starts, and again on [reload](operators.md#change-settings). Tables `[plan_class.NAME]` define\n" +
	"[plan classes](plan-classes.md).\n\n" +
	"This page has the same texts as the file: `UPDATE=1 go test ./server/project` writes it.\n"

// pageLinks has links to other pages, by the sections' titles.
var pageLinks = map[string]string{
	"Addresses":                 "[several processes](servers.md#several-processes) and [proxies, mirrors and CDNs](servers.md#proxies-mirrors-and-cdns)",
	"TLS":                       "[TLS](operators.md#tls)",
	"Storage":                   "[databases, processes and storage](servers.md)",
	"Operator":                  "[watch it](operators.md#watch-it) and [metrics](metrics.md)",
	"Sending work":              "[how work is sent](dispatch.md) and [volunteers' own programs](operators.md#volunteers-own-programs)",
	"Urgent results":            "[urgent results](dispatch.md#urgent-results)",
	"Chains":                    "[chains of workunits](scientists.md#chains-of-workunits)",
	"Volunteers":                "[accounts and computers](operators.md#accounts-and-computers)",
	"Programs that submit work": "[submit work over HTTP](api.md)",
	"Protection":                "[limits](security.md#limits)",
}

// settingsPage returns the documentation page that lists the settings, docs/server-settings.md.
func settingsPage() string {
	c := DefaultConfig()
	first, others := c.parted()
	all := append([]section{{title: "Most projects", keys: first}}, others...)
	var contents, tables strings.Builder
	for _, s := range all {
		anchor := strings.ReplaceAll(strings.ToLower(s.title), " ", "-")
		fmt.Fprintf(&contents, "- [%s](#%s)\n", s.title, anchor)
		fmt.Fprintf(&tables, "\n## %s\n\n", s.title)
		if links := pageLinks[s.title]; links != "" {
			tables.WriteString("See " + links + ".\n\n")
		}
		tables.WriteString("| Key | Default | Meaning |\n|---|---|---|\n")
		for _, k := range s.keys {
			fmt.Fprintf(&tables, "| `%s` | %s | %s |\n", k.Name, cell(k), marked(k.About))
		}
	}
	return pageHead + "\n" + contents.String() + tables.String()
}

// cell returns the default of a setting for a table.
func cell(k setting.Key) string {
	if preset := preset(k); preset != "" {
		return "`" + preset + "`"
	}
	return ""
}

var (
	docsPage = regexp.MustCompile(`\bdocs/(\S+\.md)`)
	codeWord = regexp.MustCompile(`"[^" ]*"|\b[a-z]+_[a-z0-9_.]*[a-z0-9]\b`)
)

// marked returns a text with keys, values and pages marked as Markdown.
func marked(text string) string {
	line := strings.Join(strings.Fields(text), " ")
	return docsPage.ReplaceAllString(codeWord.ReplaceAllString(line, "`$0`"), "[$1]($1)")
}
