package wasmhost

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/starling-grid/starling/internal/testprogram"
	"github.com/tetratelabs/wazero"
)

// module assembles a module with one function "f", of parameters and locals of
// these types and one i64 as its result.
func module(params, locals []byte, code ...byte) []byte {
	section := func(id byte, content []byte) []byte {
		return append(binary.AppendUvarint([]byte{id}, uint64(len(content))), content...)
	}
	m := []byte("\x00asm\x01\x00\x00\x00")
	m = append(m, section(1, append(append([]byte{1, 0x60, byte(len(params))}, params...), 1, 0x7e))...)
	m = append(m, section(3, []byte{1, 0})...)
	m = append(m, section(7, []byte{1, 1, 'f', 0, 0})...)
	body := []byte{byte(len(locals))}
	for _, l := range locals {
		body = append(body, 2, l)
	}
	body = append(append(body, code...), 0x0b)
	return append(m, section(10, append(binary.AppendUvarint([]byte{1}, uint64(len(body))), body...))...)
}

// call runs the function "f" of a module.
func call(t *testing.T, m []byte, args ...uint64) uint64 {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer func() { _ = r.Close(ctx) }()
	mod, err := r.Instantiate(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	got, err := mod.ExportedFunction("f").Call(ctx, args...)
	if err != nil {
		t.Fatal(err)
	}
	return got[0]
}

// Numbers, and NaNs of all sorts.
var (
	doubles = []uint64{
		0, math.Float64bits(1), math.Float64bits(-2.5), math.Float64bits(math.Inf(1)), math.Float64bits(math.Inf(-1)),
		0x7ff8000000000000, 0xfff8000000000000, 0x7ff8000000001234, 0xfff80000dead0000, 0x7ff0000000000001,
	}
	floats = []uint64{
		0, uint64(math.Float32bits(1)), uint64(math.Float32bits(-2.5)), 0x7f800000, 0xff800000,
		0x7fc00000, 0xffc00000, 0x7fc01234, 0xffc0dead, 0x7f800001,
	}
)

// TestCanonicalNaNs runs each operation that may produce a NaN on all sorts of numbers. Afterwards
// a NaN has the canonical bits, and a number is unchanged.
func TestCanonicalNaNs(t *testing.T) {
	type op struct {
		name   string
		code   []byte
		args   []uint64
		unary  bool
		vector bool // lanes of the arguments' size
		double bool // the result is one
	}
	var ops []op
	add := func(from, to byte, unary func(byte) bool, args []uint64, double bool) {
		for c := from; c <= to; c++ {
			ops = append(ops, op{fmt.Sprintf("0x%x", c), []byte{c}, args, unary(c), false, double})
		}
	}
	add(0x8d, 0x97, func(c byte) bool { return c <= 0x91 }, floats, false)
	add(0x9b, 0xa5, func(c byte) bool { return c <= 0x9f }, doubles, true)
	add(0xb6, 0xb6, func(byte) bool { return true }, doubles, false)
	add(0xbb, 0xbb, func(byte) bool { return true }, floats, true)
	vector := func(unary bool, args []uint64, double bool, numbers ...byte) {
		for _, n := range numbers {
			ops = append(ops, op{fmt.Sprintf("vector 0x%x", n), binary.AppendUvarint([]byte{0xfd}, uint64(n)), args, unary, true, double})
		}
	}
	vector(true, floats, false, 0x67, 0x68, 0x69, 0x6a, 0xe3)
	vector(false, floats, false, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9)
	vector(true, doubles, true, 0x74, 0x75, 0x7a, 0x94, 0xef)
	vector(false, doubles, true, 0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5)
	vector(true, doubles, false, 0x5e)
	vector(true, floats, true, 0x5f)
	strange := 0
	for _, o := range ops {
		in, splat, lane := byte(0x7c), byte(0x14), []byte{0xfd, 0x21, 0}
		if &o.args[0] == &floats[0] {
			in, splat = 0x7d, 0x13
		}
		if !o.double {
			lane = []byte{0xfd, 0x1f, 0}
		}
		var code []byte
		for i := byte(0); i < 2 && (i == 0 || !o.unary); i++ {
			code = append(code, 0x20, i)
			if o.vector {
				code = append(code, 0xfd, splat)
			}
		}
		code = append(code, o.code...)
		if o.vector {
			code = append(code, lane...)
		}
		if o.double {
			code = append(code, 0xbd) // i64.reinterpret_f64
		} else {
			code = append(code, 0xbc, 0xad) // i32.reinterpret_f32, i64.extend_i32_u
		}
		plain := module([]byte{in, in}, []byte{0x7e}, code...)
		canonical, err := canonicalNaNs(plain)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		r := wazero.NewRuntime(ctx)
		function := func(m []byte) func(x, y uint64) uint64 {
			mod, err := r.InstantiateWithConfig(ctx, m, wazero.NewModuleConfig().WithName(""))
			if err != nil {
				t.Fatalf("%s: %v", o.name, err)
			}
			return func(x, y uint64) uint64 {
				got, err := mod.ExportedFunction("f").Call(ctx, x, y)
				if err != nil {
					t.Fatal(err)
				}
				return got[0]
			}
		}
		before, after := function(plain), function(canonical)
		for _, x := range o.args {
			for _, y := range o.args {
				want := before(x, y)
				switch {
				case o.double && math.IsNaN(math.Float64frombits(want)):
					if want != 0x7ff8000000000000 {
						strange++
					}
					want = 0x7ff8000000000000
				case !o.double && math.IsNaN(float64(math.Float32frombits(uint32(want)))):
					if want != 0x7fc00000 {
						strange++
					}
					want = 0x7fc00000
				}
				if got := after(x, y); got != want {
					t.Errorf("%s of %x and %x: got %x, want %x", o.name, x, y, got, want)
				}
			}
		}
		_ = r.Close(ctx)
	}
	if strange == 0 {
		t.Error("no NaN was anything but canonical before: this tests nothing")
	}
}

// Instructions that do not compute leave a NaN's bits alone, and are left alone themselves.
func TestWhatDoesNotComputeIsLeftAlone(t *testing.T) {
	m := module([]byte{0x7c}, nil, 0x20, 0, 0x9a, 0x99, 0x9a, 0xbd) // neg, abs, neg
	got, err := canonicalNaNs(m)
	if err != nil || !bytes.Equal(got, m) {
		t.Errorf("got %x, %v, want %x", got, err, m)
	}
	if bits := call(t, got, 0x7ff8000000001234); bits != 0xfff8000000001234 {
		t.Errorf("got %x", bits)
	}
}

// TestWholeModule rewrites a program of Go's compiler, which uses most
// instructions, and has wazero check and compile it.
func TestWholeModule(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command")
	}
	dir := t.TempDir()
	if err := testprogram.Build(t.Context(), dir, []string{"GOOS=wasip1", "GOARCH=wasm"}, "examples/mersenne"); err != nil {
		t.Fatal(err)
	}
	plain, err := os.ReadFile(filepath.Join(dir, "mersenne"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := canonicalNaNs(plain)
	if err != nil || len(got) <= len(plain) {
		t.Fatalf("%d bytes became %d, %v", len(plain), len(got), err)
	}
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	defer func() { _ = r.Close(context.Background()) }()
	if _, err := r.CompileModule(t.Context(), got); err != nil {
		t.Error(err)
	}
}

func FuzzCanonicalNaNs(f *testing.F) {
	f.Add(module([]byte{0x7c, 0x7c}, []byte{0x7d}, 0x20, 0, 0x20, 1, 0xa3, 0xbd))
	f.Add([]byte("\x00asm\x01\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, m []byte) {
		if got, err := canonicalNaNs(m); err == nil && len(got) < len(m)/2 {
			t.Errorf("%x became %x", m, got)
		}
	})
}
