package console

import (
	"cmp"
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

// An action is something that can be done on a page. Each has a corresponding command, and the
// audit log records the action as that command, called with --batch for a batch.
type action struct {
	Command string
	Verb    string // in the path, if it differs from the command's (it is the command's flag then)
	On      string // the page: a kind of row, or the path of a list
	Label   string
	About   string
	Inputs  []input
	do      func(ctx context.Context, c *Console, f form) (said string, err error)
}

// Path returns the path to which the action's form is sent.
func (a action) Path() string {
	_, verb, _ := strings.Cut(a.Command, " ")
	return a.On + "-" + cmp.Or(a.Verb, verb)
}

// An input is a field of an action's form.
type input struct {
	Name, Label string
	Type        string // of HTML: text, number or checkbox
	Required    bool
}

// A form has the values of a submitted form. id is the row of the page. On a list it was selected.
type form struct {
	id     string
	values url.Values
}

func (f form) on(name string) bool { return f.values.Get(name) != "" }

func (f form) number(name string) (int64, error) {
	n, err := strconv.ParseInt(f.values.Get(name), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", f.values.Get(name))
	}
	return n, nil
}

// chosen is the field for a row of a list.
func chosen(label string) input { return input{Name: "id", Label: label, Type: "text", Required: true} }

var actions = []action{
	{
		Command: "work cancel", On: "work", Label: "Cancel", About: "No more results are sent. Results in progress are aborted when their computers next contact the project. A workunit that has an outcome keeps it.",
		Inputs: []input{{Name: "reason", Label: "Reason, for the history", Type: "text"}},
		do:     cancel(func(id int64) operate.CancelSpec { return operate.CancelSpec{IDs: []int64{id}} }),
	},
	{
		Command: "work cancel", On: "batch", Label: "Cancel all workunits of the batch", About: "No more results are sent. Results in progress are aborted when their computers next contact the project. Workunits that have an outcome keep it.",
		Inputs: []input{
			{Name: "reason", Label: "Reason, for the history", Type: "text"},
			{Name: "yes", Label: "Yes, cancel them; without this, they are only counted", Type: "checkbox"},
		},
		do: cancel(func(id int64) operate.CancelSpec { return operate.CancelSpec{Batch: id} }),
	},
	{
		Command: "work retry", On: "work", Label: "Retry", About: "For a workunit that was given up: earlier failures no longer count, and new results are created.",
		Inputs: []input{
			{Name: "reason", Label: "Reason, for the history", Type: "text"},
			{Name: "again", Label: "Also if the failure was already passed on to the project", Type: "checkbox"},
		},
		do: func(ctx context.Context, c *Console, f form) (string, error) {
			id, err := f.number("id")
			if err != nil {
				return "", err
			}
			return retried(operate.Retry(ctx, c.project, operate.RetrySpec{IDs: []int64{id}, Again: f.on("again"), Reason: f.values.Get("reason")}, time.Now()))
		},
	},
	{
		Command: "work retry", On: "batch", Label: "Retry workunits that were given up", About: "For the workunits of the batch that were given up: earlier failures no longer count, and new results are created.",
		Inputs: []input{
			{Name: "reason", Label: "Reason, for the history", Type: "text"},
			{Name: "again", Label: "Also those whose failure was already passed on to the project", Type: "checkbox"},
		},
		do: func(ctx context.Context, c *Console, f form) (string, error) {
			id, err := f.number("id")
			if err != nil {
				return "", err
			}
			return retried(operate.Retry(ctx, c.project, operate.RetrySpec{Batch: id, Again: f.on("again"), Reason: f.values.Get("reason")}, time.Now()))
		},
	},
	{
		Command: "work set", On: "work", Label: "Set the priority", About: "Higher is sent first.",
		Inputs: []input{{Name: "priority", Label: "Priority", Type: "number", Required: true}},
		do: func(ctx context.Context, c *Console, f form) (string, error) {
			id, err := f.number("id")
			if err != nil {
				return "", err
			}
			return c.prioritize(ctx, []int64{id}, f)
		},
	},
	{
		Command: "work set", On: "batch", Label: "Set the priority", About: "Of all unfinished workunits of the batch. Higher is sent first.",
		Inputs: []input{{Name: "priority", Label: "Priority", Type: "number", Required: true}},
		do: func(ctx context.Context, c *Console, f form) (string, error) {
			id, err := f.number("id")
			if err != nil {
				return "", err
			}
			ids, err := operate.Batch(ctx, c.project, id)
			if err != nil {
				return "", err
			}
			return c.prioritize(ctx, ids, f)
		},
	},
	{
		Command: "work cancel", Verb: "undo", On: "work", Label: "Undo the cancellation", About: "While its files are not deleted. New results are created as needed.",
		Inputs: []input{{Name: "reason", Label: "Reason, for the history", Type: "text"}},
		do:     cancel(func(id int64) operate.CancelSpec { return operate.CancelSpec{IDs: []int64{id}, Undo: true} }),
	},
	{
		Command: "work cancel", Verb: "undo", On: "batch", Label: "Undo the cancellation of the batch", About: "Of the workunits whose files are not deleted. New results are created as needed.",
		Inputs: []input{
			{Name: "reason", Label: "Reason, for the history", Type: "text"},
			{Name: "yes", Label: "Yes, revive them; without this, they are only counted", Type: "checkbox"},
		},
		do: cancel(func(id int64) operate.CancelSpec { return operate.CancelSpec{Batch: id, Undo: true} }),
	},
	{
		Command: "host ban", On: "host", Label: "Ban the computer", About: "It gets no more tasks. Its volunteer reads that the project has excluded the computer. It may still report the tasks that it has.",
		do: excludeHost(true),
	},
	{
		Command: "host unban", On: "host", Label: "Lift the ban", About: "The computer gets tasks again.",
		do: excludeHost(false),
	},
	{
		Command: "user ban", On: "user", Label: "Ban the account", About: "Its computers get no tasks, it can add none, and its owner cannot log in.",
		Inputs: []input{{Name: "reason", Label: "Reason, for the owner to read", Type: "text"}},
		do:     banUser(true),
	},
	{
		Command: "user unban", On: "user", Label: "Lift the ban", About: "Its computers get tasks again.",
		do: banUser(false),
	},
	{
		Command: "user trust", On: "user", Label: "Trust the account", About: "Results of its computers decide about workunits in which the validator found a result suspicious.",
		do: trustUser(true),
	},
	{
		Command: "user untrust", On: "user", Label: "End the trust", About: "Its computers get no more tasks that check suspicious results.",
		do: trustUser(false),
	},
	{
		Command: "user passwd", On: "user", Label: "Set a new password", About: "A random one is made and shown here once. The account is logged out. Its computers stay attached.",
		do: func(ctx context.Context, c *Console, f form) (string, error) {
			made := operate.RandomPassword()
			return "The new password is " + made, operate.SetPassword(ctx, c.project, f.id, made)
		},
	},
	{
		Command: "user delete", On: "user", Label: "Delete the account", About: "The owner's personal data is deleted, too. It cannot be restored. Tasks on its computers are given up; its results and credit stay, without a name.",
		Inputs: []input{{Name: "yes", Label: "Yes, delete it; this cannot be undone", Type: "checkbox", Required: true}},
		do: func(ctx context.Context, c *Console, f form) (string, error) {
			if !f.on("yes") {
				return "", errors.New("the account cannot be restored once it is deleted: confirm it")
			}
			n, err := operate.Delete(ctx, c.project, f.id, time.Now())
			return "The account is deleted; " + words.Count(n, "task") + " given up.", err
		},
	},
	{
		Command: "app stop", On: "apps", Label: "Stop an application", About: "Its work is not sent until it is started again. Tasks in progress continue.",
		Inputs: []input{chosen("Application")},
		do:     stopApp(true),
	},
	{
		Command: "app start", On: "apps", Label: "Start an application", About: "Its work is sent again.",
		Inputs: []input{chosen("Application")},
		do:     stopApp(false),
	},
	{
		Command: "version deprecate", On: "versions", Label: "Withdraw a version", About: "It is no longer sent. This cannot be undone: publish a version with a higher number.",
		Inputs: []input{
			{Name: "id", Label: "Number in the column ID", Type: "number", Required: true},
			{Name: "resend", Label: "Take its unfinished tasks back and send new ones with other versions", Type: "checkbox"},
		},
		do: withdraw,
	},
	{
		Command: "version remove", On: "versions", Label: "Delete the files of a withdrawn version", About: "Except those that other versions need. No task may be in progress with it.",
		Inputs: []input{{Name: "id", Label: "Number in the column ID", Type: "number", Required: true}},
		do:     remove,
	},
	{
		Command: "token set", On: "tokens", Label: "Change the limits of a token", About: "Fields that are empty stay as they are. 0: no limit.",
		Inputs: []input{
			chosen("Name"),
			{Name: "quota", Label: "Unfinished workunits", Type: "number"},
			{Name: "max-gb", Label: "Gigabytes stored for it", Type: "text"},
			{Name: "max-cpu-hours", Label: "CPU hours in 30 days", Type: "text"},
			{Name: "weight", Label: "Weight relative to other tokens", Type: "text"},
		},
		do: limitToken,
	},
	{
		Command: "token revoke", On: "tokens", Label: "Revoke a token", About: "What was submitted with it stays.",
		Inputs: []input{chosen("Name")},
		do: func(ctx context.Context, c *Console, f form) (string, error) {
			err := c.project.Store.Update(ctx, func(tx *store.Tx) error { return tx.RevokeToken(f.id, time.Now()) })
			if errors.Is(err, store.ErrLost) {
				err = fmt.Errorf("there is no token called %q that is not revoked", f.id)
			}
			return "The token is revoked.", err
		},
	},
}

// actionsOf returns the actions of a page.
func actionsOf(on string) []action {
	return slices.DeleteFunc(slices.Clone(actions), func(a action) bool { return a.On != on })
}

// act executes the action of a form, and writes it into the audit log, whatever its outcome.
func (c *Console) act(w http.ResponseWriter, r *http.Request, actor string) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
	i := slices.IndexFunc(actions, func(a action) bool { return a.Path() == r.PathValue("action") })
	if i < 0 {
		http.NotFound(w, r)
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

// cancel cancels the work selected by what, or undoes that. A batch is only counted unless the form
// has the field yes.
func cancel(what func(id int64) operate.CancelSpec) func(context.Context, *Console, form) (string, error) {
	return func(ctx context.Context, c *Console, f form) (string, error) {
		id, err := f.number("id")
		if err != nil {
			return "", err
		}
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
		said := []string{words.Count(done.Workunits, "workunit") + " " + would + verb + "."}
		if done.Finished > 0 {
			said = append(said, fmt.Sprintf("%d already had an outcome.", done.Finished))
		}
		if done.InProgress > 0 {
			said = append(said, "Computers are told to abort "+words.Count(done.InProgress, "task")+".")
		}
		for _, why := range slices.Sorted(maps.Keys(done.Refused)) {
			said = append(said, fmt.Sprintf("%d refused: %s.", done.Refused[why], why))
		}
		if spec.DryRun {
			said = append(said, "Nothing has changed.")
		}
		return strings.Join(said, " "), err
	}
}

func retried(done operate.Retried, err error) (string, error) {
	said := []string{words.Count(done.Workunits, "workunit") + " retried."}
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
		if err != nil || n > math.MaxInt32 && name == "quota" {
			return "", fmt.Errorf("%q is not a number", text)
		}
		given[name] = n
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
	return func(ctx context.Context, c *Console, f form) (string, error) {
		id, err := f.number("id")
		if err != nil {
			return "", err
		}
		said := "The computer is banned."
		if !ban {
			said = "The computer is no longer banned."
		}
		return said, operate.ExcludeHosts(ctx, c.project, []int64{id}, ban)
	}
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
			text += " " + words.Count(w.TakenBack, "task") + " taken back."
		case w.InProgress > 0:
			text += " " + words.Count(w.InProgress, "task") + " in progress with it: outcomes will count."
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
	return "The version is removed; " + words.Count(n, "file") + " deleted.", err
}
