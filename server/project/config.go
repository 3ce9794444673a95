package project

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/starling-grid/starling/internal/tomlfile"
	"github.com/starling-grid/starling/server/admin"
	"github.com/starling-grid/starling/server/affinity"
	"github.com/starling-grid/starling/server/api"
	"github.com/starling-grid/starling/server/assimilator"
	"github.com/starling-grid/starling/server/badge"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/mail"
	"github.com/starling-grid/starling/server/purger"
	"github.com/starling-grid/starling/server/scheduler"
	"github.com/starling-grid/starling/server/setting"
	"github.com/starling-grid/starling/server/transitioner"
	"github.com/starling-grid/starling/server/validator"
	"github.com/starling-grid/starling/server/waiting"
	"github.com/starling-grid/starling/server/web/account"
)

// Names for the settings of parts, under which Config embeds them.
type (
	Operator     = admin.Settings
	Scheduling   = scheduler.Settings
	Waiting      = waiting.Settings
	Affinity     = affinity.Settings
	Transitions  = transitioner.Settings
	Validation   = validator.Settings
	Assimilation = assimilator.Settings
	Purging      = purger.Settings
	Awards       = badge.Settings
	Accounts     = account.Settings
	Mailing      = mail.Settings
	Submission   = api.Settings
	Protection   = limit.Settings
)

// Config has the settings in server.toml. Keys that exist in BOINC's config.xml have the same names
// here. Each part of the server declares its own settings, see package setting.
type Config struct {
	Place
	Operator
	Scheduling
	Waiting
	Affinity
	Transitions
	Validation
	Assimilation
	Purging
	Awards
	Accounts
	Mailing
	Submission
	Protection

	// Retired has the keys in the file that no longer have an effect, each with the reason.
	Retired []string `toml:"-"`
}

// A section is a subject with its settings.
type section struct {
	title string
	keys  []setting.Key
}

// sections describes all settings but the plan classes, in the order in which people read them.
func (c *Config) sections() []section {
	all := []section{
		{"Addresses", c.addresses()},
		{"TLS", c.certificates()},
		{"Storage", c.storage()},
		{"Operator", c.Operator.Keys()},
		{"Sending work", slices.Concat(c.Scheduling.Keys(), c.Waiting.Keys())},
		{"Urgent results", c.Urgent.Keys()},
		{"Chains", c.Affinity.Keys()},
		{"After the result", slices.Concat(c.Transitions.Keys(), c.Validation.Keys(), c.Assimilation.Keys(), c.Purging.Keys(), c.Awards.Keys())},
		{"Volunteers", slices.Concat(c.Accounts.Keys(), c.Mailing.Keys())},
		{"Programs that submit work", c.Submission.Keys()},
		{"Protection", c.Protection.Keys()},
	}
	names := make(map[any]string)
	tags(reflect.ValueOf(c).Elem(), names)
	for _, s := range all {
		for i := range s.keys {
			s.keys[i].Name = names[s.keys[i].Field]
		}
	}
	return all
}

// tags adds the keys of a struct and the ones embedded in it, by pointers to their fields.
func tags(v reflect.Value, names map[any]string) {
	for f, field := range v.Fields() {
		if f.Anonymous {
			tags(field, names)
			continue
		}
		names[field.Addr().Interface()] = f.Tag.Get("toml")
	}
}

// keys describes all settings but the plan classes.
func (c *Config) keys() (all []setting.Key) {
	for _, s := range c.sections() {
		all = append(all, s.keys...)
	}
	return all
}

// parted returns the settings that most projects change, and the others by subject.
func (c *Config) parted() (first []setting.Key, others []section) {
	for _, s := range c.sections() {
		other := section{title: s.title}
		for _, k := range s.keys {
			if k.Foremost {
				first = append(first, k)
			} else {
				other.keys = append(other.keys, k)
			}
		}
		others = append(others, other)
	}
	return first, others
}

// DefaultConfig returns the settings for an empty server.toml.
func DefaultConfig() Config {
	var c Config
	for _, k := range c.keys() {
		k.Set(k.Default)
	}
	return c
}

// ProcessorOf returns the kind of coprocessor on which the app versions of a plan class compute, by
// BOINC's name. For the CPUs it returns "".
func (c Config) ProcessorOf(planClass string) string { return c.PlanClasses[planClass].Kind() }

// Proxies returns trusted_proxies, or its default: for a project that is reached by https,
// ListenAddr assumes a proxy on the same computer.
func (c *Config) Proxies() []string {
	if c.TrustedProxies == nil && strings.HasPrefix(c.MasterURL, "https:") && !c.TLS {
		return []string{"127.0.0.1", "::1"}
	}
	return c.TrustedProxies
}

// ReadConfig reads DIR/server.toml. The error lists all the mistakes, each with file, line and key.
func ReadConfig(dir string) (Config, error) {
	name := filepath.Join(dir, "server.toml")
	text, err := os.ReadFile(name)
	if err != nil {
		return Config{}, fmt.Errorf("not a project's directory: %w", err)
	}
	c, err := ParseConfig(name, text)
	if err != nil {
		return c, err
	}
	return c, c.addPlanSpec(dir)
}

// ParseConfig parses the settings in text, which is the content of the file name, without the files
// that the settings name. The error lists all the mistakes, each with file, line and key.
func ParseConfig(name string, text []byte) (Config, error) {
	c := DefaultConfig()
	lines, err := tomlfile.Decode(name, text, &c, slices.Collect(maps.Keys(retired))...)
	if err != nil {
		return c, err
	}
	for _, key := range slices.Sorted(maps.Keys(retired)) {
		if lines.Has(key) {
			c.Retired = append(c.Retired, key+": "+retired[key])
		}
	}
	errs := c.check(lines)
	return c, errors.Join(errs...)
}

// Check returns an error if the value of a setting is wrong.
func (c *Config) Check(key string) error {
	var errs []error
	for _, k := range c.keys() {
		if k.Name == key {
			for _, check := range k.Checks {
				errs = append(errs, check())
			}
		}
	}
	return errors.Join(errs...)
}

// check looks at the values.
func (c *Config) check(lines tomlfile.Lines) (errs []error) {
	bad := func(key, format string, args ...any) { errs = append(errs, lines.Errorf(key, format, args...)) }
	for _, k := range c.keys() {
		for _, check := range k.Checks {
			if err := check(); err != nil {
				bad(k.Name, "%v", err)
			}
		}
	}
	if c.ConfirmEmail && c.Mail == "" {
		bad("confirm_email", "mail is needed for that")
	}
	for _, name := range slices.Sorted(maps.Keys(c.PlanClasses)) {
		for _, e := range c.PlanClasses[name].Check() {
			bad("plan_class."+name+"."+e.Key, "%s", e.Text)
		}
		if !ValidPlanClass(name) || name == "" {
			bad("plan_class."+name, "want a name of letters, digits, '_', '-' and '.'")
		}
	}
	return errs
}

var planClass = regexp.MustCompile(`^[A-Za-z0-9_.-]{0,64}$`)

// ValidPlanClass reports whether a plan class may have that name. The empty string is not a plan
// class.
func ValidPlanClass(name string) bool { return planClass.MatchString(name) }
