package words

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// A Text is a text for people in English, with its values apart, so that it can be written in another
// language. It is immutable and small. The zero value is the empty text. In JSON it is the English
// text.
type Text struct{ *phrase }

type phrase struct {
	english string // with the names of values in braces
	one     string // the English text if the value n is 1 ("": the same)
	values  []any  // name, value, …
	whole   bool   // it consists of its values: a name, an error or several sentences

	last atomic.Pointer[written] // since thousands of tasks may wait for one reason
}

// written is a phrase in a language. ok is false if the language lacks a translation.
type written struct {
	language Language
	text     string
	ok       bool
}

// T returns a text. A name in braces is the place of a value. Values are pairs of a name and a string, a
// number or another Text.
func T(english string, values ...any) Text {
	if english == "" {
		return Text{}
	}
	return Text{&phrase{english: english, values: values}}
}

// Plain returns a text that is the same in all languages: a name, or the words of another program.
func Plain(s string) Text {
	if s == "" {
		return Text{}
	}
	return Text{&phrase{english: "{s}", values: []any{"s", s}, whole: true}}
}

// Plural returns a text about a number of things, which is the value n. one is the English text about
// one of them.
func Plural(n int, one, other string, values ...any) Text {
	return Text{&phrase{english: other, one: one, values: append([]any{"n", n}, values...)}}
}

// Join returns the texts that are not empty with a separator between them.
func Join(texts []Text, separator string) Text {
	var only Text
	n := 0
	for _, t := range texts {
		if t.Is() {
			only = t
			n++
		}
	}
	if n <= 1 {
		return only
	}
	names, values := make([]string, 0, n), make([]any, 0, 2*n)
	for _, t := range texts {
		if t.Is() {
			name := strconv.Itoa(len(names))
			names, values = append(names, "{"+name+"}"), append(values, name, t)
		}
	}
	return Text{&phrase{english: strings.Join(names, separator), values: values, whole: true}}
}

// And returns texts one after the other, as the sentences of a paragraph.
func And(texts ...Text) Text { return Join(texts, " ") }

// Is reports whether there is a text.
func (t Text) Is() bool { return t.phrase != nil }

// String returns the English text.
func (t Text) String() string { return t.In(English) }

// In returns the text in a language. A sentence without a translation stays English.
func (t Text) In(l Language) string {
	if s, ok := t.in(l); ok {
		return s
	}
	s, _ := t.in(English)
	return s
}

// Only returns the text as it is in a language, for JSON in that language.
func (t Text) Only(l Language) Text {
	if l == English {
		return t
	}
	return Plain(t.In(l))
}

// in returns the text in a language. It reports false if it or a part of it lacks a translation: a
// sentence is in one language. The parts of a whole are separate sentences.
func (t Text) in(l Language) (string, bool) {
	if !t.Is() {
		return "", true
	}
	if w := t.last.Load(); w != nil && w.language == l {
		return w.text, w.ok
	}
	text, ok := t.write(l)
	t.last.Store(&written{l, text, ok})
	return text, ok
}

func (t Text) write(l Language) (string, bool) {
	template := t.english
	if n, counts := t.number(); t.one != "" && n == 1 && counts {
		template = t.one
	}
	if !t.whole && l != English {
		n, _ := t.number()
		if template = l.translation(t.english, n); template == "" {
			return "", false
		}
	}
	var s strings.Builder
	s.Grow(len(template) + 32*len(t.values)/2)
	for {
		before, rest, braces := strings.Cut(template, "{")
		s.WriteString(before)
		if !braces {
			break
		}
		name, after, _ := strings.Cut(rest, "}")
		value, there := t.value(name)
		if !there {
			s.WriteByte('{')
			template = rest
			continue
		}
		template = after
		switch v := value.(type) {
		case Text:
			value, ok := v.in(l)
			if !ok && t.whole {
				value, ok = v.in(English)
			}
			if !ok {
				return "", false
			}
			s.WriteString(value)
		case string:
			s.WriteString(v)
		case float64:
			s.WriteString(Float(v))
		default:
			fmt.Fprint(&s, v)
		}
	}
	text := s.String()
	if strings.HasSuffix(text, "..") && !strings.HasSuffix(text, "...") { // its last value is a sentence
		text = text[:len(text)-1]
	}
	return text, true
}

// value returns the value with a name. A value may be called like another one's name.
func (t Text) value(name string) (v any, there bool) {
	for pair := range slices.Chunk(t.values, 2) {
		if pair[0] == name && len(pair) == 2 {
			return pair[1], true
		}
	}
	return nil, false
}

// number returns the value n, which selects the plural.
func (t Text) number() (int, bool) {
	if len(t.values) >= 2 && t.values[0] == "n" {
		n, ok := t.values[1].(int)
		return n, ok
	}
	return 0, false
}

// MarshalJSON writes the English text.
func (t Text) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// UnmarshalJSON reads a text, which is the same in all languages then.
func (t *Text) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*t = Plain(s)
	return nil
}

// IsZero reports whether the text is empty, for omitzero.
func (t Text) IsZero() bool { return !t.Is() }

// Or returns the first text that is not empty.
func Or(texts ...Text) Text {
	for _, t := range texts {
		if t.Is() {
			return t
		}
	}
	return Text{}
}
