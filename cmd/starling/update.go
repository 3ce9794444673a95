package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/words"
)

// updatePatience is the time to wait for the outcome of a contact.
const updatePatience = 20 * time.Second

// update makes the agent contact a project, waits for the outcome and prints it.
func (o *options) update(cmd *cobra.Command, client *control.Client, u string) error {
	ctx := cmd.Context()
	before, err := client.Status(ctx)
	if err == nil {
		err = client.SteerProject(ctx, u, control.UpdateProject)
	}
	if err = o.reached(err); err != nil {
		return err
	}
	var s control.Status
	var p control.Project
	for deadline := time.Now().Add(updatePatience); ; {
		if s, p, err = lookAt(ctx, client, u); err != nil {
			return err
		}
		if !p.Asked && !p.InContact || p.Asked && s.Network != "" || time.Now().After(deadline) {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	text, failed := outcome(before, s, p)
	if failed {
		return fault("update {url}: {why}", "url", u, "why", text)
	}
	fmt.Fprintln(cmd.OutOrStdout(), text)
	return nil
}

func lookAt(ctx context.Context, client *control.Client, u string) (s control.Status, p control.Project, err error) {
	if s, err = client.Status(ctx); err != nil {
		return s, p, err
	}
	for _, p := range s.Projects {
		if p.MasterURL == u {
			return s, p, nil
		}
	}
	return s, p, fault("{url} was detached meanwhile", "url", u)
}

// outcome returns the outcome of a contact with p, and whether it failed.
func outcome(before, after control.Status, p control.Project) (text string, failed bool) {
	switch {
	case p.Asked && after.Network != "":
		return phrase("{project} will be contacted once the network may be used. {why}", "project", name(p), "why", after.Network), false
	case p.Asked:
		return phrase("{project} will be contacted soon.", "project", name(p)), false
	case p.InContact:
		return phrase("{project} has not replied yet; the agent keeps waiting.", "project", name(p)), false
	case p.TroubleCode != "":
		next := ""
		if !p.NextContact.IsZero() {
			next = " " + phrase("Next try {when}.", "when", words.When(p.NextContact, time.Now()))
		}
		return printable(p.Trouble) + next + "\n" + phrase("You can: {cure}", "cure", p.TroubleCure), true
	}
	reported, received := exchanged(before, after, p.MasterURL)
	text = phrase("Contacted {project}: {reported} reported, {received} received.", "project", printable(name(p)), "reported", words.Count(reported, "task"), "received", words.Count(received, "task"))
	if received == 0 && p.Work != "" {
		text += " " + printable(p.Work)
	}
	return text, false
}

// exchanged counts a project's tasks that have gone and come.
func exchanged(before, after control.Status, u string) (gone, came int) {
	had := make(map[string]bool)
	for _, t := range before.Tasks {
		if t.Project == u {
			had[t.Name] = true
			gone++
		}
	}
	for _, t := range after.Tasks {
		switch {
		case t.Project != u:
		case had[t.Name]:
			gone--
		default:
			came++
		}
	}
	return gone, came
}
