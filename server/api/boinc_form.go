package api

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
)

// maxHead is the part of a request of BOINC's that is read before its authenticator was checked.
const maxHead = 64 << 10

// errNoKey means that the first maxHead bytes contain no authenticator.
var errNoKey = faultf(http.StatusUnauthorized, "send the form value request first, and in it the authenticator", "the request does not start with an authenticator")

// A gate lets only the beginning of a request's body through until it is opened.
type gate struct {
	r    io.Reader
	left int64
	open bool
}

func (g *gate) Read(b []byte) (int, error) {
	if g.open {
		return g.r.Read(b)
	}
	if g.left <= 0 {
		return 0, errNoKey
	}
	n, err := g.r.Read(b[:min(int64(len(b)), g.left)])
	g.left -= int64(n)
	return n, err
}

// requestOf returns the form value request of a body, which is read as it arrives, and the parts
// that follow it in a multipart body. The parts are nil for other forms.
func requestOf(contentType string, body io.Reader) (value io.Reader, parts *multipart.Reader, err error) {
	kind, params, err := mime.ParseMediaType(contentType)
	wrong := faultf(http.StatusBadRequest, "send it as the form value request", "the form is not understood")
	switch {
	case err != nil:
		return nil, nil, wrong
	case kind == "application/x-www-form-urlencoded":
		value, err = urlValue(body)
		return value, nil, err
	case kind != "multipart/form-data" || params["boundary"] == "":
		return nil, nil, wrong
	}
	parts = multipart.NewReader(body, params["boundary"])
	part, err := parts.NextPart()
	switch {
	case errors.Is(err, errNoKey):
		return nil, nil, err
	case err != nil || part.FormName() != "request":
		return nil, nil, faultf(http.StatusBadRequest, "send it first", "the form does not start with the value request")
	}
	return part, parts, nil
}

// urlValue returns the value request of a URL-encoded body, which must start with it.
func urlValue(body io.Reader) (io.Reader, error) {
	name := make([]byte, len("request="))
	if _, err := io.ReadFull(body, name); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || err == nil && string(name) != "request=" {
		return nil, faultf(http.StatusBadRequest, "send it as the form value request, first", "the form does not start with the value request")
	} else if err != nil {
		return nil, err
	}
	return &unescaper{r: body}, nil
}

// An unescaper reads a URL-encoded value as far as the next one.
type unescaper struct {
	r    io.Reader
	text string // that was unescaped and not read yet
	rest []byte // start of an escape that is not complete yet
	end  error
}

func (u *unescaper) Read(b []byte) (int, error) {
	for u.text == "" {
		if u.end != nil {
			return 0, u.end
		}
		raw := make([]byte, 8<<10)
		k := copy(raw, u.rest)
		n, err := u.r.Read(raw[k:])
		raw, u.rest = raw[:k+n], nil
		if i := bytes.IndexByte(raw, '&'); i >= 0 { // other values follow
			raw, err = raw[:i], io.EOF
		}
		if i := bytes.LastIndexByte(raw, '%'); err == nil && i >= 0 && i > len(raw)-3 {
			raw, u.rest = raw[:i], bytes.Clone(raw[i:])
		}
		u.end = err
		if u.text, err = url.QueryUnescape(string(raw)); err != nil {
			u.text, u.end = "", err
		}
	}
	n := copy(b, u.text)
	u.text = u.text[n:]
	return n, nil
}

// A markup reads XML and limits the memory for elements: a short tag or an attribute of a few bytes
// takes a hundred in memory.
type markup struct {
	in    io.ByteReader
	dec   *xml.Decoder
	read  int  // bytes of the present token
	last  byte // that was read
	tag   bool // the present token is a tag
	depth int
}

const (
	maxTag   = 16 << 10 // bytes
	maxDepth = 32
)

func newMarkup(in io.ByteReader) *xml.Decoder {
	m := &markup{in: in}
	m.dec = xml.NewDecoder(m)
	return xml.NewTokenDecoder(m)
}

// ReadByte implements io.ByteReader, for the inner decoder.
func (m *markup) ReadByte() (byte, error) {
	c, err := m.in.ReadByte()
	if err != nil {
		return c, err
	}
	if m.read++; m.read == 1 { // the < before it was read with the text before
		m.tag = c == '<' || m.last == '<' && c != '!'
	} else if m.read == 2 && c == '!' && m.last == '<' {
		m.tag = false
	}
	m.last = c
	if m.tag && m.read > maxTag {
		return 0, errors.New("a tag is too long")
	}
	return c, nil
}

// Read implements io.Reader, and is not called.
func (m *markup) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

// Token implements xml.TokenReader, for the outer decoder.
func (m *markup) Token() (xml.Token, error) {
	m.read = 0
	t, err := m.dec.RawToken()
	switch t.(type) {
	case xml.StartElement:
		m.depth++
	case xml.EndElement:
		m.depth--
	}
	if m.depth > maxDepth {
		return nil, errors.New("elements are nested too deep")
	}
	return t, err
}
