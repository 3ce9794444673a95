package pages

import (
	"errors"
	"unicode"
	"unicode/utf8"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/web/account"
)

// refusal is an error that people read.
func refusal(english string, values ...any) error {
	return account.Refuse(protocol.ErrNumNotUnique, words.T(english, values...))
}

// explained puts an error that people are to read into a page's data, and returns others.
func explained(data map[string]any, err error) error {
	if refused, ok := errors.AsType[*account.Refusal](err); ok {
		data["Error"] = refused
		return nil
	}
	if fault, ok := errors.AsType[*wire.Fault](err); ok { // in the visitor's language
		data["Error"] = sentence(fault.Error())
		return nil
	}
	return err
}

// refused returns a refusal as a sentence in a language.
func refused(e *account.Refusal, l words.Language) string {
	if e.Num == protocol.ErrNumBadPassword {
		return words.T("The e-mail address or password is wrong.").In(l)
	}
	return sentence(e.Text.In(l))
}

// sentence returns a reason as a sentence.
func sentence(reason string) string {
	first, size := utf8.DecodeRuneInString(reason)
	return string(unicode.ToUpper(first)) + reason[size:] + "."
}
