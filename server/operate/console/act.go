package console

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// act executes the action of a form, and writes it into the audit log, whatever its outcome.
func (c *Console) act(w http.ResponseWriter, r *http.Request, actor string) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
	i := slices.IndexFunc(actions, func(a action) bool { return a.Path() == r.PathValue("action") })
	if i < 0 {
		c.missing(w, "There is no such action.")
		return
	}
	if err := r.ParseForm(); err != nil {
		c.refuse(w, err)
		return
	}
	a, f := actions[i], form{strings.TrimSpace(r.PostForm.Get("id")), r.PostForm}
	ctx := context.WithoutCancel(r.Context()) // an action is not left half done
	entry := store.AuditEntry{Actor: actor, Via: "page", Action: a.Command}
	err := c.project.Store.View(ctx, func(tx *store.View) error {
		entry.Detail = f.detail(tx, a)
		return nil
	})
	if err != nil {
		c.fail(w, err)
		return
	}
	said, err := a.do(ctx, c, f)
	if auditErr := operate.Record(ctx, c.project, entry, err); auditErr != nil {
		c.fail(w, errors.Join(err, auditErr))
		return
	}
	if err != nil {
		c.refuse(w, err)
		return
	}
	c.log.Info("operator action", "actor", actor, "action", a.Command, "detail", entry.Detail)
	at := "/" + a.On
	if here[view.Kind(a.On)] != "" {
		at += "/" + url.PathEscape(f.id)
	}
	http.Redirect(w, r, at+"?done="+c.say(said), http.StatusSeeOther)
}

// say stores the outcome of an action for the next page.
func (c *Console) say(text string) (number string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.said) > 100 { // pages that were never shown
		clear(c.said)
	}
	number = rand.Text()
	c.said[number] = text
	return number
}

// detail is the form as the audit log has it, in the manner of a command line.
func (f form) detail(tx *store.View, a action) string {
	parts := []string{operate.Discreet(tx, f.id)}
	if a.On == string(view.OfBatch) {
		parts[0] = "--batch=" + parts[0]
	}
	if a.Verb != "" {
		parts = append(parts, "--"+a.Verb)
	}
	for _, in := range a.Inputs {
		switch v := f.values.Get(in.Name); {
		case v == "" || in.Name == "id":
		case in.Type == "checkbox":
			parts = append(parts, "--"+in.Name)
		default:
			parts = append(parts, "--"+in.Name+"="+operate.Discreet(tx, v))
		}
	}
	return strings.Join(parts, " ")
}

// numbered makes an action on the row of a number, the form's field id.
func numbered(do func(ctx context.Context, c *Console, f form, id int64) (string, error)) func(context.Context, *Console, form) (string, error) {
	return func(ctx context.Context, c *Console, f form) (string, error) {
		id, err := f.number("id")
		if err != nil {
			return "", err
		}
		return do(ctx, c, f, id)
	}
}

// cancel cancels the work selected by what, or undoes that. A batch is only counted unless the form
// has the field yes.
func cancel(what func(id int64) operate.CancelSpec) func(context.Context, *Console, form) (string, error) {
	return numbered(func(ctx context.Context, c *Console, f form, id int64) (string, error) {
		spec := what(id)
		spec.Reason, spec.DryRun = f.values.Get("reason"), spec.Batch != 0 && !f.on("yes")
		done, err := operate.CancelWork(ctx, c.project, spec, time.Now())
		would, verb := "", "cancelled"
		if spec.Undo {
			verb = "revived"
		}
		if spec.DryRun {
			would = "would be "
		}
		said := []string{words.Count(done.Workunits, "workunit").String() + " " + would + verb + "."}
		if done.Finished > 0 {
			said = append(said, fmt.Sprintf("%d already had an outcome.", done.Finished))
		}
		if done.InProgress > 0 {
			said = append(said, "Computers are told to abort "+words.Count(done.InProgress, "task").String()+".")
		}
		for _, why := range slices.Sorted(maps.Keys(done.Refused)) {
			said = append(said, fmt.Sprintf("%d refused: %s.", done.Refused[why], why))
		}
		if spec.DryRun {
			said = append(said, "Nothing has changed.")
		}
		return strings.Join(said, " "), err
	})
}

func retried(done operate.Retried, err error) (string, error) {
	said := []string{words.Count(done.Workunits, "workunit").String() + " retried."}
	for _, why := range slices.Sorted(maps.Keys(done.Refused)) {
		said = append(said, fmt.Sprintf("%d refused: %s.", done.Refused[why], why))
	}
	return strings.Join(said, " "), err
}

func limitToken(ctx context.Context, c *Console, f form) (string, error) {
	given := make(map[string]float64)
	for _, name := range []string{"quota", "max-gb", "max-cpu-hours", "weight"} {
		text := strings.TrimSpace(f.values.Get(name))
		if text == "" {
			continue
		}
		n, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil:
			return "", fmt.Errorf("%q is not a number", text)
		case name == "quota" && (n > math.MaxInt32 || n != math.Trunc(n)):
			return "", fmt.Errorf("%q is not a number of workunits: give one from 0 to %d", text, math.MaxInt32)
		}
		given[name] = n
	}
	if len(given) == 0 {
		return "", errors.New("nothing was changed: fill in the limits to change")
	}
	return "The limits are changed.", operate.SetToken(ctx, c.project, f.id, func(l *operate.TokenLimits) {
		for name, n := range given {
			switch name {
			case "quota":
				l.Quota = int(n)
			case "max-gb":
				l.MaxGB = n
			case "max-cpu-hours":
				l.MaxCPUHours = n
			case "weight":
				l.Weight = n
			}
		}
	})
}

func (c *Console) prioritize(ctx context.Context, ids []int64, f form) (string, error) {
	priority, err := f.number("priority")
	if err != nil {
		return "", err
	}
	done, err := operate.SetWorkunits(ctx, c.project, ids, func(to *workgen.Params) { to.Priority = priority }, time.Now())
	return fmt.Sprintf("%s changed, %d had this priority already, %d already had an outcome.",
		words.Count(done.Changed, "workunit"), done.Unchanged, done.Finished), err
}

func excludeHost(ban bool) func(context.Context, *Console, form) (string, error) {
	return numbered(func(ctx context.Context, c *Console, _ form, id int64) (string, error) {
		said := "The computer is banned."
		if !ban {
			said = "The computer is no longer banned."
		}
		return said, operate.ExcludeHosts(ctx, c.project, []int64{id}, ban)
	})
}

func banUser(ban bool) func(context.Context, *Console, form) (string, error) {
	return func(ctx context.Context, c *Console, f form) (string, error) {
		said := "The account is banned."
		if !ban {
			said = "The account is no longer banned."
		}
		_, err := operate.Ban(ctx, c.project, f.id, ban, f.values.Get("reason"), time.Now())
		return said, err
	}
}

func trustUser(trust bool) func(context.Context, *Console, form) (string, error) {
	return func(ctx context.Context, c *Console, f form) (string, error) {
		said := "The account is trusted."
		if !trust {
			said = "The account is no longer trusted."
		}
		_, err := operate.Trust(ctx, c.project, f.id, trust, time.Now())
		return said, err
	}
}

func stopApp(stop bool) func(context.Context, *Console, form) (string, error) {
	return func(ctx context.Context, c *Console, f form) (string, error) {
		use, err := operate.StopApp(ctx, c.project, f.id, stop)
		said := fmt.Sprintf("%s is stopped: %s waiting, %s in progress.", f.id, words.Count(int(use.Unsent), "task"), words.Count(int(use.InProgress), "task"))
		if !stop {
			said = fmt.Sprintf("%s is started: %s waiting.", f.id, words.Count(int(use.Unsent), "task"))
		}
		return said, err
	}
}

// version finds the version that a form names.
func (c *Console) version(ctx context.Context, f form) (spec operate.VersionSpec, err error) {
	id, err := f.number("id")
	if err != nil {
		return spec, err
	}
	err = c.project.Store.View(ctx, func(tx *store.View) error {
		list, err := view.Versions.Find(tx, view.Query{}, time.Now())
		if err != nil {
			return err
		}
		for _, v := range list.Of.([]view.Version) {
			if v.ID == id {
				spec = operate.VersionSpec{App: v.App, Number: view.VersionNumber(int64(v.VersionNum)), Platform: v.Platform, PlanClass: &v.PlanClass}
				return nil
			}
		}
		return fmt.Errorf("version %d: %w", id, store.ErrNotFound)
	})
	return spec, err
}

func withdraw(ctx context.Context, c *Console, f form) (string, error) {
	spec, err := c.version(ctx, f)
	if err != nil {
		return "", err
	}
	var said []string
	list, err := operate.Deprecate(ctx, c.project, spec, f.on("resend"), time.Now())
	for _, w := range list {
		text := operate.VersionName(spec.App, w.AppVersion) + " is no longer sent."
		switch {
		case w.TakenBack > 0:
			text += " " + words.Count(w.TakenBack, "task").String() + " taken back."
		case w.InProgress > 0:
			text += " " + words.Count(w.InProgress, "task").String() + " in progress with it: outcomes will count."
		}
		if w.Last {
			text += " No version of " + spec.App + " is left for " + w.Platform.Name + "."
		}
		said = append(said, text)
	}
	return strings.Join(said, " "), err
}

func remove(ctx context.Context, c *Console, f form) (string, error) {
	spec, err := c.version(ctx, f)
	if err != nil {
		return "", err
	}
	list, err := operate.RemoveVersion(ctx, c.project, spec)
	n := 0
	for _, r := range list {
		n += len(r.Files)
	}
	return "The version is removed; " + words.Count(n, "file").String() + " deleted.", err
}
