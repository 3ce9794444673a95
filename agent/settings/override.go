package settings

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/tomlfile"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
)

// overrideSuffix is the end of the name of the file with a tool's changes to an account. It is next
// to the account file, which is the volunteer's.
const overrideSuffix = ".override.toml"

func overridePath(account string) string {
	return strings.TrimSuffix(account, ".toml") + overrideSuffix
}

// An Override has the changes by tools to an account. A nil field is unchanged.
type Override struct {
	ResourceShare  *float64 `toml:"resource_share"`
	NoMoreWork     *bool    `toml:"no_more_work"`
	Suspended      *bool    `toml:"suspended"`
	DetachWhenDone *bool    `toml:"detach_when_done"`
	MaxConcurrent  *int     `toml:"max_concurrent"`
	Manager        *Managed `toml:"manager"`

	// In place of all in the account file, if there are any.
	ExcludeGPUs []ExcludeGPU `toml:"exclude_gpu,omitempty"`
	Apps        []App        `toml:"app,omitempty"`
}

// override lays what tools changed over an account.
func (a *Account) override(path string, src []byte) error {
	o, err := parseOverride(path, src)
	if err != nil {
		return err
	}
	if m := o.Manager; m != nil {
		m.override(a)
	}
	if o.ResourceShare != nil {
		a.ResourceShare = *o.ResourceShare
	}
	if o.NoMoreWork != nil {
		a.NoMoreWork = *o.NoMoreWork
	}
	if o.Suspended != nil {
		a.Suspended = *o.Suspended
	}
	if o.DetachWhenDone != nil {
		a.DetachWhenDone = *o.DetachWhenDone
	}
	if o.MaxConcurrent != nil {
		a.MaxConcurrent = *o.MaxConcurrent
	}
	if o.ExcludeGPUs != nil {
		a.ExcludeGPUs = o.ExcludeGPUs
	}
	if o.Apps != nil {
		a.Apps = o.Apps
	}
	return nil
}

func loadOverride(path string) (o Override, err error) {
	src, err := foreigndir.ReadFile(path, MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	} else if err != nil {
		return o, err
	}
	return parseOverride(path, src)
}

func parseOverride(path string, src []byte) (o Override, err error) {
	lines, err := tomlfile.Decode(path, src, &o)
	if err != nil {
		return o, err
	}
	return o, o.check(lines)
}

// check returns the faults of the values.
func (o Override) check(lines tomlfile.Lines) error {
	if s := o.ResourceShare; s != nil && !validShare(*s) {
		return lines.Fault("resource_share", words.T("{value} is not between {least} and {most}", "value", *s, "least", 0, "most", 1000000))
	}
	if m := o.Manager; m != nil && m.ResourceShare != nil && !validShare(*m.ResourceShare) {
		return lines.Fault("manager.resource_share", words.T("{value} is not between {least} and {most}", "value", *m.ResourceShare, "least", 0, "most", 1000000))
	}
	if m := o.Manager; m != nil && m.Authenticator != "" && !validKey(m.Authenticator) {
		return lines.Fault("manager.authenticator", words.T("not an account key"))
	}
	return checkApps(lines, o.MaxConcurrent, o.Apps)
}

// ChangeAccount changes what tools may of an account, in its override file.
func ChangeAccount(dataDir, masterURL string, change func(*Override)) error {
	account, err := findAccountFile(dataDir, masterURL)
	if err != nil {
		return err
	}
	if account.path == "" {
		if all, _ := ReadAccounts(dataDir); all.InForce[masterURL].MasterURL != "" {
			return words.Refuse(words.T("{url}: nothing was changed, because its account file is missing or has errors; fix the file first, see: starling status", "url", masterURL))
		}
		return NotAttached(masterURL)
	}
	path := overridePath(account.path)
	o, err := loadOverride(path)
	if err != nil {
		return err
	}
	change(&o)
	if err := o.check(tomlfile.Lines{}); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("# Changes made by tools to the account file next to this one. They override that\n# file; delete a line to return to its value.\n")
	if err := toml.NewEncoder(&b).Encode(o); err != nil {
		return err
	}
	read, err := parseOverride(masterURL, []byte(b.String()))
	if err := sameAgain(masterURL, o, read, err); err != nil {
		return err
	}
	return atomicfile.Write(path, []byte(b.String()), 0o600)
}

// sameAgain returns the reason for not writing a file. Every text is parsed first, and it is only
// written if the result equals the intended values.
func sameAgain(about string, wanted, read any, err error) error {
	if err != nil {
		return words.Explain(err, words.T("nothing was changed: {why}", "why", sysfault.Text(err)))
	}
	encode := func(v any) string {
		var b strings.Builder
		_ = toml.NewEncoder(&b).Encode(v) // what fails is not the same
		return b.String()
	}
	if encode(wanted) != encode(read) {
		return words.Refuse(words.T("{about}: nothing was changed, because a value has characters that the file cannot hold", "about", about))
	}
	return nil
}

// WritePrefsOverride makes l the changes by tools to the computing preferences. An empty layer
// removes them.
func WritePrefsOverride(dataDir string, l prefs.Layer) error {
	path := filepath.Join(dataDir, PrefsOverrideFile)
	if len(l.Values) == 0 && len(l.Days) == 0 {
		return errors.Join(remove(path), dropKept(dataDir, PrefsOverrideFile))
	}
	text := "# Computing preferences set by tools. They override " + PrefsFile + "; delete a line\n# to return to the value there.\n" + l.TOML()
	read, err := prefs.Parse(PrefsOverrideFile, []byte(text), "")
	if err == nil && (!maps.Equal(read.Values, l.Values) || !maps.Equal(read.Days, l.Days)) {
		err = words.Refuse(words.T("{file}: some of the values cannot be set", "file", PrefsOverrideFile))
	}
	if err != nil {
		return words.Explain(err, words.T("nothing was changed: {why}", "why", sysfault.Text(err)))
	}
	return atomicfile.Write(path, []byte(text), 0o600)
}
