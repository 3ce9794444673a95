package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/operate"
)

// An action is something that can be done on a page. Each has a corresponding command, and the
// audit log records the action as that command, called with --batch for a batch.
type action struct {
	Command string
	Verb    string // in the path, if it differs from the command's (it is the command's flag then)
	On      string // the page: a kind of row, or the path of a list
	When    string // the state of the row in which it changes something, "" for any
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
		Command: "work cancel", On: "work", When: "unfinished", Label: "Cancel", About: "No more results are sent. Results in progress are aborted when their computers next contact the project. A workunit that has an outcome keeps it.",
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
		Command: "work retry", On: "work", When: "error", Label: "Retry", About: "For a workunit that was given up: earlier failures no longer count, and new results are created.",
		Inputs: []input{
			{Name: "reason", Label: "Reason, for the history", Type: "text"},
			{Name: "again", Label: "Also if the failure was already passed on to the project", Type: "checkbox"},
		},
		do: numbered(func(ctx context.Context, c *Console, f form, id int64) (string, error) {
			return retried(operate.Retry(ctx, c.project, operate.RetrySpec{IDs: []int64{id}, Again: f.on("again"), Reason: f.values.Get("reason")}, time.Now()))
		}),
	},
	{
		Command: "work retry", On: "batch", Label: "Retry workunits that were given up", About: "For the workunits of the batch that were given up: earlier failures no longer count, and new results are created.",
		Inputs: []input{
			{Name: "reason", Label: "Reason, for the history", Type: "text"},
			{Name: "again", Label: "Also those whose failure was already passed on to the project", Type: "checkbox"},
		},
		do: numbered(func(ctx context.Context, c *Console, f form, id int64) (string, error) {
			return retried(operate.Retry(ctx, c.project, operate.RetrySpec{Batch: id, Again: f.on("again"), Reason: f.values.Get("reason")}, time.Now()))
		}),
	},
	{
		Command: "work set", On: "work", When: "unfinished", Label: "Set the priority", About: "Higher is sent first.",
		Inputs: []input{{Name: "priority", Label: "Priority", Type: "number", Required: true}},
		do: numbered(func(ctx context.Context, c *Console, f form, id int64) (string, error) {
			return c.prioritize(ctx, []int64{id}, f)
		}),
	},
	{
		Command: "work set", On: "batch", Label: "Set the priority", About: "Of all unfinished workunits of the batch. Higher is sent first.",
		Inputs: []input{{Name: "priority", Label: "Priority", Type: "number", Required: true}},
		do: numbered(func(ctx context.Context, c *Console, f form, id int64) (string, error) {
			ids, err := operate.Batch(ctx, c.project, id)
			if err != nil {
				return "", err
			}
			return c.prioritize(ctx, ids, f)
		}),
	},
	{
		Command: "work cancel", Verb: "undo", On: "work", When: "error", Label: "Undo the cancellation", About: "While its files are not deleted. New results are created as needed.",
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
		Command: "host ban", On: "host", When: "active", Label: "Ban the computer", About: "It gets no more tasks. Its volunteer reads that the project has excluded the computer. It may still report the tasks that it has.",
		do: excludeHost(true),
	},
	{
		Command: "host unban", On: "host", When: "banned", Label: "Lift the ban", About: "The computer gets tasks again.",
		do: excludeHost(false),
	},
	{
		Command: "user ban", On: "user", When: "active", Label: "Ban the account", About: "Its computers get no tasks, it can add none, and its owner cannot log in.",
		Inputs: []input{{Name: "reason", Label: "Reason, for the owner to read", Type: "text"}},
		do:     banUser(true),
	},
	{
		Command: "user unban", On: "user", When: "banned", Label: "Lift the ban", About: "Its computers get tasks again.",
		do: banUser(false),
	},
	{
		Command: "user trust", On: "user", When: "untrusted", Label: "Trust the account", About: "Results of its computers decide about workunits in which the validator found a result suspicious.",
		do: trustUser(true),
	},
	{
		Command: "user untrust", On: "user", When: "trusted", Label: "End the trust", About: "Its computers get no more tasks that check suspicious results.",
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
			return "The account is deleted; " + words.Count(n, "task").String() + " given up.", err
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
			return "The token is revoked.", operate.RevokeToken(ctx, c.project, f.id, time.Now())
		},
	},
}

// actionsOf returns the actions of a page that change something if its row has certain states.
func actionsOf(on string, states ...string) []action {
	return slices.DeleteFunc(slices.Clone(actions), func(a action) bool { return a.On != on || !slices.Contains(states, a.When) })
}
