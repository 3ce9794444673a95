package view

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/allowance"
	"github.com/starling-grid/starling/server/store"
)

// Tokens lists the tokens of the API.
var Tokens = &Listing{
	Short:   "List tokens",
	Long:    "List the tokens with their limits and what they have used of them, revoked ones too.",
	None:    "No tokens.",
	Columns: []Column{{"Name", ""}, {"Apps", ""}, {"Unfinished", ""}, {"Stored", ""}, {"CPU hours", ""}, {"Weight", ""}, {"Created", ""}, {"Used", ""}, {"Revoked", ""}},
	find:    findTokens,
}

// A Token is a token without its secret, which only its bearer has. A limit of 0 means unlimited.
type Token struct {
	Name        string    `json:"name"`
	Apps        []string  `json:"apps"` // none: all
	Quota       int       `json:"quota"`
	Unfinished  int64     `json:"unfinished"`
	MaxBytes    int64     `json:"max_bytes"`
	Bytes       int64     `json:"bytes"`
	MaxCPUHours float64   `json:"max_cpu_hours"` // in the last 30 days
	CPUHours    float64   `json:"cpu_hours"`     // likewise
	HeldUntil   time.Time `json:"held_until,omitzero"`
	Weight      float64   `json:"weight"`
	CreateTime  time.Time `json:"create_time"`
	UsedTime    time.Time `json:"used_time,omitzero"`
	RevokedTime time.Time `json:"revoked_time,omitzero"`
}

func findTokens(tx *store.View, _ Query, now time.Time) (List, error) {
	uses, err := allowance.All(tx, now)
	if err != nil {
		return List{}, err
	}
	views := []Token{}
	list := List{}
	for _, id := range slices.Sorted(maps.Keys(uses)) {
		t := uses[id].Token
		v := Token{
			Name: t.Name, Apps: append([]string{}, t.Apps...), Quota: t.Quota, MaxBytes: t.MaxBytes, MaxCPUHours: float64(t.MaxCPUTime) / allowance.Hour,
			Weight: t.Weight, CreateTime: UTC(t.CreateTime), UsedTime: UTC(t.UsedTime), RevokedTime: UTC(t.RevokedTime),
		}
		if v.Unfinished, err = tx.UnfinishedOfToken(t.ID, 0, now); err != nil {
			return List{}, err
		}
		if v.Bytes, err = tx.TokenBytes(t.ID); err != nil {
			return List{}, err
		}
		use := uses[t.ID]
		v.CPUHours, v.HeldUntil = use.CPUTime/allowance.Hour, UTC(use.Until)
		views = append(views, v)
		apps := "all"
		if len(t.Apps) > 0 {
			apps = strings.Join(t.Apps, ", ")
		}
		cpu := of(allowance.Hours(use.CPUTime).String(), t.MaxCPUTime > 0, allowance.Hours(float64(t.MaxCPUTime)).String())
		if use.Over() {
			cpu += ", waits until " + words.UTC(words.Time, use.Until, now).String()
		}
		list.Rows = append(list.Rows, []any{
			v.Name, apps, of(words.Number(v.Unfinished).String(), t.Quota > 0, words.Number(int64(t.Quota)).String()), of(words.Bytes(v.Bytes).String(), t.MaxBytes > 0, words.Bytes(t.MaxBytes).String()),
			cpu, words.Float(t.Weight), v.CreateTime, v.UsedTime, v.RevokedTime,
		})
	}
	list.Of = views
	return list, nil
}

// of writes a used amount and its limit, if there is one.
func of(used string, limited bool, most string) string {
	if !limited {
		return used
	}
	return used + " of " + most
}
