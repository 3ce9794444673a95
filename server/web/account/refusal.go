package account

import (
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
)

// A Refusal is a protocol.AccountError whose reason pages show in the visitor's language. Clients get
// it in English.
type Refusal struct {
	Num  int // one of protocol's ErrNum constants
	Text words.Text
}

// Refuse returns a refusal.
func Refuse(num int, text words.Text) *Refusal { return &Refusal{num, text} }

func (e *Refusal) Error() string { return e.Unwrap().Error() }

// Unwrap returns the refusal in the form of the protocol.
func (e *Refusal) Unwrap() error { return &protocol.AccountError{Num: e.Num, Msg: e.Text.String()} }
