package settings

import (
	"github.com/starling-grid/starling/protocol"
)

// Managed is what an account manager says of a project. It wins over the account
// file; what a person changes by a tool wins over it, until the manager changes
// its mind. What is nil the manager does not say.
type Managed struct {
	URL            string                 `toml:"url"`           // the manager's address
	Attached       bool                   `toml:"attached"`      // it attached the project, rather than a person before
	Authenticator  protocol.Authenticator `toml:"authenticator"` // in place of the account file's; "" for that
	ResourceShare  *float64               `toml:"resource_share"`
	NoMoreWork     *bool                  `toml:"no_more_work"`
	Suspended      *bool                  `toml:"suspended"`
	DetachWhenDone bool                   `toml:"detach_when_done"`
}

// override lays what the manager says over an account.
func (m *Managed) override(a *Account) {
	a.Manager = m
	if m.Authenticator != "" {
		a.Authenticator = m.Authenticator
	}
	if m.ResourceShare != nil {
		a.ResourceShare = *m.ResourceShare
	}
	if m.NoMoreWork != nil {
		a.NoMoreWork = *m.NoMoreWork
	}
	if m.Suspended != nil {
		a.Suspended = *m.Suspended
	}
}

// Manage makes m what the account manager says. Where that is new to o, it takes
// back what a tool changed: the last word holds.
func (o *Override) Manage(m Managed) {
	was := o.Manager
	if was == nil {
		was = &Managed{}
	}
	if changed(was.ResourceShare, m.ResourceShare) {
		o.ResourceShare = nil
	}
	if changed(was.NoMoreWork, m.NoMoreWork) {
		o.NoMoreWork = nil
	}
	if changed(was.Suspended, m.Suspended) {
		o.Suspended = nil
	}
	m.Attached = m.Attached || was.Attached
	if m.Authenticator == "" {
		m.Authenticator = was.Authenticator
	}
	o.Manager = &m
}

// changed reports whether a manager says something, and not what it said before.
func changed[V comparable](was, is *V) bool {
	return is != nil && (was == nil || *was != *is)
}
