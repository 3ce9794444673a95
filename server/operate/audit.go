package operate

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

// Unknown replaces an e-mail address that belongs to no account.
const Unknown = "(address)"

var address = regexp.MustCompile(`[^\s"'<>:/@]+@[^\s"'<>@]+`)

// Discreet is a text as the audit log has it: accounts by their numbers in place of addresses, and
// URLs without passwords. Accounts that are deleted leave no trace of whose they were.
func Discreet(tx *store.View, text string) string {
	if u, err := url.Parse(text); err == nil && u.User != nil {
		return u.Redacted()
	}
	return address.ReplaceAllStringFunc(text, func(a string) string {
		if u, err := tx.UserByEmail(strings.ToLower(a)); err == nil {
			return fmt.Sprint("account ", u.ID)
		}
		return Unknown
	})
}

// Record writes an action of now and its outcome into the audit log. e.Detail must be discreet
// already. Record writes the entry even if ctx has ended, since the action has happened.
func Record(ctx context.Context, p *project.Project, e store.AuditEntry, failed error) error {
	e.CreateTime = time.Now()
	if failed != nil {
		e.Error = address.ReplaceAllString(failed.Error(), Unknown)
	}
	err := p.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error { return tx.Audit(e) })
	if err != nil {
		return fmt.Errorf("the audit log lacks %q: %w", e.Action, err)
	}
	return nil
}
