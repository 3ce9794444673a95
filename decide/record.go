package decide

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// A Record is one pass, kept.
type Record struct {
	Snapshot Snapshot `json:"snapshot"`
	Plan     Plan     `json:"plan"`
}

// ErrDiffers is returned by Replay when the decisions are other ones.
var ErrDiffers = errors.New("the decision differs")

// Replay decides a record's snapshot again and compares the plans. It returns the new plan. The
// error wraps ErrDiffers and names the first difference.
func Replay(r Record) (Plan, error) {
	again := Pass(r.Snapshot)
	was, err := json.Marshal(r.Plan)
	if err != nil {
		return again, err
	}
	is, err := json.Marshal(again)
	if err != nil {
		return again, err
	}
	if !bytes.Equal(was, is) {
		i := 0
		for i < len(was) && i < len(is) && was[i] == is[i] {
			i++
		}
		return again, fmt.Errorf("%w: recorded …%s, now …%s", ErrDiffers, near(was, i), near(is, i))
	}
	return again, nil
}

// near returns the text around a difference.
func near(b []byte, i int) []byte { return b[max(0, i-40):min(len(b), i+60)] }
