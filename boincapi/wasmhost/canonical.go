package wasmhost

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Section numbers of a module.
//
// Source: WebAssembly Core Specification 2.0, 5.5, as all numbers here.
const (
	typeSection     = 1
	functionSection = 3
	codeSection     = 10
)

// canonicalNaNs returns the module with added code that replaces each NaN from arithmetic by the
// canonical one. Without it the processor would choose the NaN's bits, and so the bits of results
// that contain it. Instructions that only move a float or change its sign yield the same bits
// everywhere and stay as they are.
func canonicalNaNs(module []byte) ([]byte, error) {
	r := &reader{b: module}
	out := append([]byte(nil), r.bytes(8)...)
	var params []uint64 // of each type
	var types []uint64  // of each function
	for r.err == nil && len(r.b) > 0 {
		id := r.byte()
		content := r.bytes(r.u32())
		s := &reader{b: content}
		switch id {
		case typeSection:
			params = s.types()
		case functionSection:
			for n := s.u32(); n > 0 && s.err == nil; n-- {
				types = append(types, s.u32())
			}
		case codeSection:
			var err error
			if content, err = rewriteCode(s, params, types); err != nil {
				return nil, err
			}
		}
		if s.err != nil {
			return nil, s.err
		}
		out = append(out, id)
		out = binary.AppendUvarint(out, uint64(len(content)))
		out = append(out, content...)
	}
	return out, r.err
}

// types reads the type section: how many parameters each type of function has.
func (r *reader) types() (params []uint64) {
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		if form := r.byte(); form != 0x60 && r.err == nil {
			r.fail("unknown type 0x%x", form)
		}
		k := r.u32()
		r.bytes(k)
		r.bytes(r.u32())
		params = append(params, k)
	}
	return params
}

func rewriteCode(r *reader, params, types []uint64) ([]byte, error) {
	n := r.u32()
	out := binary.AppendUvarint(nil, n)
	for i := range n {
		body := &reader{b: r.bytes(r.u32())}
		if r.err != nil {
			return nil, r.err
		}
		if i >= uint64(len(types)) || types[i] >= uint64(len(params)) {
			return nil, errors.New("a function has no type")
		}
		text, err := rewriteBody(body, params[types[i]])
		if err != nil {
			return nil, err
		}
		out = binary.AppendUvarint(out, uint64(len(text)))
		out = append(out, text...)
	}
	return out, nil
}

// rewriteBody rewrites a function with so many parameters.
func rewriteBody(r *reader, params uint64) ([]byte, error) {
	whole := r.b
	var locals []byte // their groups, as they stand
	groups, next := r.u32(), params
	start := r.b
	for range groups {
		next += r.u32()
		r.byte()
		if r.err != nil {
			return nil, r.err
		}
	}
	locals = start[:len(start)-len(r.b)]
	var code []byte
	added := false
	for len(r.b) > 0 {
		before := r.b
		kind := r.instruction()
		if r.err != nil {
			return nil, r.err
		}
		code = append(code, before[:len(before)-len(r.b)]...)
		if kind != nil {
			added = true
			code = kind.append(code, next)
		}
	}
	if !added {
		return whole, nil
	}
	out := binary.AppendUvarint(nil, groups+uint64(len(kinds)))
	out = append(out, locals...)
	for _, k := range kinds {
		out = append(out, 1, k.valtype)
	}
	return append(out, code...), nil
}

// A kind is a kind of value that may hold NaNs.
type kind struct {
	local    uint64 // which of the locals that are added holds one
	valtype  byte
	constant []byte // puts a canonical NaN on the stack
	equal    []byte // compares two of the kind
	choose   []byte // the value where they are equal, the NaN elsewhere
}

var (
	nan32 = []byte{0, 0, 0xc0, 0x7f}
	nan64 = []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}

	f32   = kind{0, 0x7d, append([]byte{0x43}, nan32...), []byte{0x5b}, []byte{0x1b}}
	f64   = kind{1, 0x7c, append([]byte{0x44}, nan64...), []byte{0x61}, []byte{0x1b}}
	f32x4 = kind{2, 0x7b, vector(nan32), []byte{0xfd, 0x41}, []byte{0xfd, 0x52}}
	f64x2 = kind{2, 0x7b, vector(nan64), []byte{0xfd, 0x47}, []byte{0xfd, 0x52}}

	kinds = []kind{f32, f64, f32x4} // one for each local that is added
)

func vector(lane []byte) []byte {
	c := []byte{0xfd, 0x0c}
	for len(c) < 2+16 {
		c = append(c, lane...)
	}
	return c
}

// append adds the code that makes the value on top of the stack canonical. It recognizes a NaN by
// comparing the value with itself.
func (k *kind) append(code []byte, firstLocal uint64) []byte {
	const get, tee = 0x20, 0x22
	local := binary.AppendUvarint(nil, firstLocal+k.local)
	code = append(append(code, tee), local...)
	code = append(code, k.constant...)
	code = append(append(code, get), local...)
	code = append(append(code, get), local...)
	code = append(code, k.equal...)
	return append(code, k.choose...)
}

// A reader takes a module apart. After an error it reads zeros.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("WebAssembly module: "+format, args...)
	}
	r.b = nil
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail("unexpected end")
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u32() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > 1<<32-1 {
		r.fail("malformed number")
		return 0
	}
	r.b = r.b[n:]
	return v
}

// leb passes over a number of any size and sign.
func (r *reader) leb() {
	for r.byte()&0x80 != 0 {
	}
}

// instruction passes over one instruction and returns the kind of its result, if
// that may be a NaN of the processor's choice.
func (r *reader) instruction() *kind {
	switch op := r.byte(); {
	case op >= 0x02 && op <= 0x04, op == 0x41, op == 0x42, op == 0xd0: // blocks, whole numbers, a null of a type
		r.leb()
	case op == 0x0c, op == 0x0d, op == 0x10, op >= 0x20 && op <= 0x26, op == 0x3f, op == 0x40, op == 0xd2:
		r.u32()
	case op == 0x0e:
		for n := r.u32() + 1; n > 0 && r.err == nil; n-- { // with the default
			r.u32()
		}
	case op == 0x11, op >= 0x28 && op <= 0x3e:
		r.u32()
		r.u32()
	case op == 0x1c:
		r.bytes(r.u32())
	case op == 0x43:
		r.bytes(4)
	case op == 0x44:
		r.bytes(8)
	case op >= 0x8d && op <= 0x97, op == 0xb6:
		return &f32
	case op >= 0x9b && op <= 0xa5, op == 0xbb:
		return &f64
	case op == 0xfc:
		r.bulk()
	case op == 0xfd:
		return r.vector()
	case op <= 0x01, op == 0x05, op == 0x0b, op == 0x0f, op == 0x1a, op == 0x1b, op >= 0x45 && op <= 0xc4, op == 0xd1:
	default:
		r.fail("unknown instruction 0x%x", op)
	}
	return nil
}

// bulk passes over an instruction on memory or tables, or a conversion.
func (r *reader) bulk() {
	switch op := r.u32(); {
	case op <= 7:
	case op == 8, op == 10, op == 12, op == 14:
		r.u32()
		r.u32()
	case op <= 17:
		r.u32()
	default:
		r.fail("unknown instruction 0xfc %d", op)
	}
}

// vector passes over an instruction on vectors.
func (r *reader) vector() *kind {
	switch op := r.u32(); {
	case op <= 11, op == 0x5c, op == 0x5d:
		r.u32()
		r.u32()
	case op == 12, op == 13:
		r.bytes(16)
	case op >= 0x15 && op <= 0x22:
		r.byte()
	case op >= 0x54 && op <= 0x5b:
		r.u32()
		r.u32()
		r.byte()
	case op == 0x5e, op >= 0x67 && op <= 0x6a, op == 0xe3, op >= 0xe4 && op <= 0xe9:
		return &f32x4
	case op == 0x5f, op == 0x74, op == 0x75, op == 0x7a, op == 0x94, op == 0xef, op >= 0xf0 && op <= 0xf5:
		return &f64x2
	case op > 0xff:
		r.fail("unknown instruction 0xfd %d", op)
	}
	return nil
}
