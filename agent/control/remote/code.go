package remote

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/starling-grid/starling/internal/words"
)

// Bounds of a code.
const (
	codeBytes = 10 // 80 bits
	codeLife  = 10 * time.Minute
	codeTries = 5
)

// alphabet does not have letters that can be mistaken for digits.
var alphabet = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// newCode makes a code: four groups of four letters and digits.
func newCode() string {
	var b [codeBytes]byte
	_, _ = rand.Read(b[:])
	s := alphabet.EncodeToString(b[:])
	return s[:4] + "-" + s[4:8] + "-" + s[8:12] + "-" + s[12:]
}

// parseCode takes a code as people type it.
func parseCode(s string) ([]byte, error) {
	s = strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(strings.TrimSpace(s)))
	b, err := alphabet.DecodeString(s)
	if err != nil || len(b) != codeBytes {
		return nil, words.Refuse(words.T("not a pairing code; a code has four groups of four characters, as shown by starling remote pair"))
	}
	return b, nil
}

// A side is one that proves possession of the code.
type side string

const (
	controller side = "starling remote control: controller"
	controlled side = "starling remote control: controlled"
)

// proof proves that a side has the code and sees these certificates: of the agent, and of the
// computer, with its name, that asks to control it.
func proof(code []byte, who side, agent, asks, name string) []byte {
	mac := hmac.New(sha256.New, code)
	fmt.Fprintf(mac, "%s\x00%s\x00%s\x00%s", who, agent, asks, name) // all but the last have a fixed length each
	return mac.Sum(nil)
}

// A pending code waits for the computer that it was shown for.
type pending struct {
	mu    sync.Mutex
	code  []byte
	until time.Time
	tries int // left
}

// set makes code the only one.
func (p *pending) set(code []byte, now time.Time) (until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.code, p.until, p.tries = code, now.Add(codeLife), codeTries
	return p.until
}

// check uses up a try, and the code if it was right.
func (p *pending) check(right func(code []byte) bool, now time.Time) (code []byte, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.code == nil || !now.Before(p.until) || p.tries <= 0 {
		p.code = nil
		return nil, errNoCode
	}
	p.tries--
	if !right(p.code) {
		return nil, errWrongCode
	}
	code, p.code = p.code, nil
	return code, nil
}
