package view

import (
	"strings"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// Tokens lists the tokens of the API.
var Tokens = &Listing{
	Short:   "List tokens",
	Long:    "List the tokens, revoked ones too.",
	None:    "No tokens.",
	Columns: []Column{{"Name", ""}, {"Apps", ""}, {"Quota", ""}, {"Unfinished", ""}, {"Created", ""}, {"Used", ""}, {"Revoked", ""}},
	find:    findTokens,
}

// A Token is a token without its secret, which only its bearer has.
type Token struct {
	Name        string    `json:"name"`
	Apps        []string  `json:"apps"` // none: all
	Quota       int       `json:"quota"`
	Unfinished  int64     `json:"unfinished"`
	CreateTime  time.Time `json:"create_time"`
	UsedTime    time.Time `json:"used_time,omitzero"`
	RevokedTime time.Time `json:"revoked_time,omitzero"`
}

func findTokens(tx *store.View, _ Query, now time.Time) (List, error) {
	found, err := tx.Tokens()
	views := []Token{}
	list := List{}
	for _, t := range found {
		n, err := tx.UnfinishedOfToken(t.ID, 0, now)
		if err != nil {
			return List{}, err
		}
		v := Token{t.Name, append([]string{}, t.Apps...), t.Quota, n, UTC(t.CreateTime), UTC(t.UsedTime), UTC(t.RevokedTime)}
		views = append(views, v)
		apps := "all"
		if len(t.Apps) > 0 {
			apps = strings.Join(t.Apps, ", ")
		}
		list.Rows = append(list.Rows, []any{v.Name, apps, v.Quota, v.Unfinished, v.CreateTime, v.UsedTime, v.RevokedTime})
	}
	list.Of = views
	return list, err
}
