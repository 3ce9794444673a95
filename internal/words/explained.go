package words

// explained is an error with a text for people.
type explained struct {
	error
	text Text
}

func (e explained) Error() string { return e.text.String() }
func (e explained) Unwrap() error { return e.error }

// Explain returns err with a text for people, or nil if err is nil.
func Explain(err error, text Text) error {
	if err == nil {
		return nil
	}
	return explained{err, text}
}

// Refuse returns an error that is a text for people.
func Refuse(text Text) error { return explained{text: text} }

// Explanation returns the text for people of an error from Explain or Refuse.
func Explanation(err error) (text Text, ok bool) {
	e, ok := err.(explained) //nolint:errorlint // an error that wraps it has more to say
	return e.text, ok
}
