package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/api/wire"
)

// decode reads a submission, and counts while it reads: a list of empty objects takes a hundred
// times the memory that its text has.
func decode(r io.Reader) (s wire.Submission, err error) {
	dec := json.NewDecoder(r)
	inputs := 0
	err = object(dec, "workunits", &s, func() error {
		if len(s.Workunits) == maxWorkunits {
			return refusal(http.StatusUnprocessableEntity, words.T("the batch has more than {most} workunits", "most", maxWorkunits), words.T("send it in several batches"))
		}
		var wu wire.Workunit
		err := object(dec, "inputs", &wu, func() error {
			if inputs++; inputs > maxInputs {
				return tooManyInputs()
			}
			var in wire.Input
			err := strictly(dec, &in)
			wu.Inputs = append(wu.Inputs, in)
			return err
		})
		if inputs += len(wu.After); err == nil && inputs > maxInputs {
			err = tooManyInputs()
		}
		s.Workunits = append(s.Workunits, wu)
		return err
	})
	if err != nil {
		return s, err
	}
	// To its end, or the time for sending it would run on while the project fetches files.
	if _, more := dec.Token(); !errors.Is(more, io.EOF) {
		if more == nil {
			more = errors.New("something follows the batch")
		}
		return s, more
	}
	return s, nil
}

func tooManyInputs() error {
	return faultf(http.StatusUnprocessableEntity, "send it in several batches", "the batch has more than %d input files and predecessors", maxInputs)
}

// maxMember is the maximum size of a member that is read as a whole, in bytes.
const maxMember = 1 << 20

// object reads an object into v: of the member called list one element after the other, each by
// element, and the others as a whole.
func object(dec *json.Decoder, list string, v any, element func() error) error {
	if err := delimiter(dec, '{'); err != nil {
		return err
	}
	listed := false
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		if !strings.EqualFold(name, list) {
			var one json.RawMessage
			if err := dec.Decode(&one); err != nil {
				return err
			}
			if len(one) > maxMember {
				return faultf(http.StatusUnprocessableEntity, "shorten it", "%q has %d bytes, and at most %d are read", name, len(one), maxMember)
			}
			key, _ := json.Marshal(name) // a string always can be
			if err := strictly(json.NewDecoder(io.MultiReader(strings.NewReader("{"), bytes.NewReader(key), strings.NewReader(":"), bytes.NewReader(one), strings.NewReader("}"))), v); err != nil {
				return err
			}
			continue
		}
		if listed {
			return fmt.Errorf("%q is there twice", list)
		}
		listed = true
		if err := delimiter(dec, '['); err != nil {
			return err
		}
		for dec.More() {
			if err := element(); err != nil {
				return err
			}
		}
		if err := delimiter(dec, ']'); err != nil {
			return err
		}
	}
	return delimiter(dec, '}')
}

// unread returns the reason why a submission cannot be read, in words for its sender.
func unread(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it ends early"
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		want := map[reflect.Kind]string{
			reflect.Int: "a whole number", reflect.Int64: "a whole number", reflect.Float64: "a number", reflect.String: "a text",
			reflect.Bool: "true or false", reflect.Slice: "a list", reflect.Struct: "an object",
		}[e.Type.Kind()]
		return fmt.Sprintf("%q is a %s, want %s", e.Field, e.Value, want)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func strictly(dec *json.Decoder, v any) error {
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

func delimiter(dec *json.Decoder, want json.Delim) error {
	t, err := dec.Token()
	if err == nil && t != want {
		got, _ := json.Marshal(t)
		if d, ok := t.(json.Delim); ok {
			got = []byte(d.String())
		}
		err = fmt.Errorf("want %s at byte %d, got %.100s", want, dec.InputOffset(), got)
	}
	return err
}
