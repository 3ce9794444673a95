// Package setting describes settings: keys of server.toml. Each part of the server declares the
// settings that it reads as a struct with a method Keys, which has the meaning, default and allowed
// values of each field. A new setting is a field there, and its entry in Keys. server/project embeds
// these structs, and reads and writes the file, its schema and its page in docs from them.
package setting

import (
	"fmt"
	"net"
	"net/mail"
	"reflect"
	"slices"
	"strings"

	"github.com/starling-grid/starling/internal/words"
)

// A Key describes a setting.
type Key struct {
	Name     string  // from the `toml` tag of the field, once server/project has joined the settings
	Field    any     // pointer to the field
	Default  any     // of the field's type
	About    string  // meaning of the key, in full sentences, without regard to the breaks of lines
	Max      float64 // of a number, which is 0 or more
	Checks   []func() error
	Required bool // every project sets it, and Default is not used
	Restart  bool // a running server does not apply a new value
	Foremost bool // one of the dozen settings that a new project shows first
}

// Of describes a setting that is not a number.
func Of[T ~string | ~bool | ~[]string | ~[]int64](field *T, preset T, about string) Key {
	return Key{Field: field, Default: preset, About: about}
}

// Number describes a setting that is a number from 0 to most.
func Number[T ~int | ~int64 | ~float64](field *T, preset T, most float64, about string) Key {
	k := Key{Field: field, Default: preset, About: about, Max: most}
	k.Checks = append(k.Checks, func() error {
		if n := float64(*field); !(n >= 0 && n <= most) {
			return fmt.Errorf("%v is out of range, want 0 to %v", words.Float(n), words.Float(most))
		}
		return nil
	})
	return k
}

// Checked adds a check of the value.
func (k Key) Checked(check func() error) Key {
	k.Checks = append(k.Checks, check)
	return k
}

// Must marks a setting without a default.
func (k Key) Must() Key {
	k.Required = true
	return k
}

// Restarts marks a setting that only a restart of the server applies.
func (k Key) Restarts() Key {
	k.Restart = true
	return k
}

// First marks a setting that a new project shows first.
func (k Key) First() Key {
	k.Foremost = true
	return k
}

// Value returns the value of the field.
func (k Key) Value() any { return reflect.ValueOf(k.Field).Elem().Interface() }

// Set sets the field.
func (k Key) Set(value any) { reflect.ValueOf(k.Field).Elem().Set(reflect.ValueOf(value)) }

// Parsed returns a check that a function can read the value of a field.
func Parsed[T, V any](field *T, parse func(T) (V, error)) func() error {
	return func() error {
		_, err := parse(*field)
		return err
	}
}

// OneOf returns a check that a field is one of some words.
func OneOf(field *string, words ...string) func() error {
	return func() error {
		if !slices.Contains(words, *field) {
			return fmt.Errorf("%q: want one of %s", *field, strings.Join(words, ", "))
		}
		return nil
	}
}

// MailAddress returns a check that a field is "" or an e-mail address.
func MailAddress(field *string) func() error {
	return func() error {
		if _, err := mail.ParseAddress(*field); err != nil && *field != "" {
			return fmt.Errorf("%q is not an e-mail address", *field)
		}
		return nil
	}
}

// HostPort returns a check that a field is "" or an address to listen on.
func HostPort(field *string) func() error {
	return func() error {
		_, port, err := net.SplitHostPort(*field)
		if err == nil {
			_, err = net.LookupPort("tcp", port)
		}
		if err != nil && *field != "" {
			return fmt.Errorf("%q is not an address, want HOST:PORT or :PORT", *field)
		}
		return nil
	}
}
