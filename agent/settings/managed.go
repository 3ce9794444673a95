package settings

import (
	"github.com/starling-grid/starling/protocol"
)

// Managed has an account manager's settings of a project. They take precedence over the account
// file. A person's changes by a tool take precedence over them, until the manager changes its
// settings. The manager does not set values that are nil.
type Managed struct {
	URL            string                 `toml:"url"`           // the manager's address
	Attached       bool                   `toml:"attached"`      // it attached the project, rather than a person before
	Authenticator  protocol.Authenticator `toml:"authenticator"` // replaces the account file's unless it is ""
	ResourceShare  *float64               `toml:"resource_share"`
	NoMoreWork     *bool                  `toml:"no_more_work"`
	Suspended      *bool                  `toml:"suspended"`
	DetachWhenDone bool                   `toml:"detach_when_done"`
}

// override applies the manager's settings to an account.
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

// Manage replaces the account manager's settings with m. Settings that the manager has changed
// replace a tool's change: the latest change counts.
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

// changed reports whether a manager sets a value that is different from before.
func changed[V comparable](was, is *V) bool {
	return is != nil && (was == nil || *was != *is)
}
