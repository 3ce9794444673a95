package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
)

// A signup determines the project and the account for this computer. It asks the person for
// everything that the flags leave open, if there is a terminal.
type signup struct {
	url, key, email, password, name string

	create bool // a new account rather than one that exists
	accept bool // the project's terms of use

	ask    *terminal // nil if there is none
	client *schedulerop.Client
}

// complete finds url and key.
func (s *signup) complete(ctx context.Context) (err error) {
	if s.url == "" {
		if err := s.chooseProject(ctx); err != nil {
			return err
		}
	}
	if s.url, err = settings.MasterURL(s.url); err != nil || s.key != "" {
		return err
	}
	switch {
	case s.email == "" && s.ask == nil:
		return fault("attach: an account is required: give --key, or --email and --password; for a new account, also --create")
	case s.email != "" && !s.create:
		return s.logIn(ctx)
	}
	c, err := s.client.ProjectConfig(ctx, s.url)
	if err != nil {
		return err
	}
	if c.AccountManager {
		return fault("{url} is an account manager, not a project; join it with: starling manager join {url}", "url", s.url)
	}
	downgrade := strings.HasPrefix(s.url, "https:") && !strings.HasPrefix(c.MasterURL, "https:")
	if u, err := protocol.CanonicalMasterURL(c.MasterURL); err == nil && u != s.url && !downgrade {
		s.say("The URL of %s is %s.", c.Name, u)
		s.url = u
	}
	if s.email == "" && !s.create {
		if err := s.chooseAccount(ctx, c); err != nil || s.key != "" {
			return err
		}
	}
	if s.create {
		return s.makeAccount(ctx, c)
	}
	return s.logIn(ctx)
}

// say prints a message for the person, if there is a terminal.
func (s *signup) say(format string, args ...any) {
	if s.ask != nil {
		s.ask.say(format, args...)
	}
}

func (s *signup) chooseProject(ctx context.Context) error {
	if s.ask == nil {
		return fault("attach: the URL of a project is required, as in: starling attach https://einstein.phys.uwm.edu/ --email YOU")
	}
	known, err := knownProjects()
	if err != nil {
		return err
	}
	s.say("Projects you can attach to:\n")
	for i, p := range known {
		s.say("  %2d  %-22s %-12s %s", i+1, p.Name, p.Area, p.About)
	}
	s.say("  %2d  another project, by its URL\n", len(known)+1)
	for {
		answer, err := s.ask.need(ctx, fmt.Sprintf("Which one? (1 to %d, or a name or URL)", len(known)+1))
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(answer)
		switch {
		case err != nil:
			s.url, err = called(known, answer)
		case n == len(known)+1:
			s.url, err = s.ask.need(ctx, "URL of the project's web site")
			return err
		case n >= 1 && n <= len(known):
			s.url = known[n-1].URL
		default:
			err = fault("{n} is not one of the choices", "n", n)
		}
		if err == nil {
			return nil
		}
		s.say("%v", err)
	}
}

// chooseAccount asks for the account. It finds the key, or an e-mail address.
func (s *signup) chooseAccount(ctx context.Context, c *protocol.ProjectConfig) error {
	s.say("%s. Do you have an account there?", c.Name)
	ways := []string{"yes, log in with e-mail address and password", "yes, use an account key from the web site", "no, create one"}
	if closed(c) {
		ways = ways[:2]
		s.say("(New accounts can only be created on its web site: %s)", s.url)
	}
	for i, w := range ways {
		s.say("  %d  %s", i+1, w)
	}
	n, err := s.ask.number(ctx, "Which?", len(ways))
	if err != nil {
		return err
	}
	if n == 2 {
		s.key, err = s.ask.password(ctx, "Account key (not shown)")
		if s.key = strings.TrimSpace(s.key); err == nil && s.key == "" {
			err = fault("attach: no account key was given")
		}
		return err
	}
	s.create = n == 3
	what := "E-mail address"
	if c.UsesUsername {
		what = "User name"
	}
	s.email, err = s.ask.need(ctx, what)
	return err
}

// logIn gets the key of an account that exists.
func (s *signup) logIn(ctx context.Context) error {
	if s.password == "" {
		if s.ask == nil {
			return fault("attach: --password or --password-stdin is required when there is no terminal")
		}
		var err error
		if s.password, err = s.ask.password(ctx, fmt.Sprintf("Password of %s at %s", s.email, s.url)); err != nil {
			return err
		}
	}
	key, err := s.client.Lookup(ctx, s.url, s.email, s.password)
	s.key = string(key)
	return s.refused(err)
}

// refused turns a project's answer about an account into a sentence with the remedy.
func (s *signup) refused(err error) error {
	answer, ok := errors.AsType[*protocol.AccountError](err)
	if !ok {
		return err
	}
	text := "attach: {url} says: {answer}"
	switch answer.Num {
	case protocol.ErrNumNotFound, protocol.ErrNumFileMissing:
		text = "attach: there is no account of {email} at {url}. You can: check the address, or create an account by adding --create"
	case protocol.ErrNumBadPassword:
		text = "attach: {url} does not accept this password for {email}. You can: try again, have a forgotten one reset on the project's web site, or for a new account add --create"
	case protocol.ErrNumNotUnique:
		text = "attach: {url} says: {answer}. You can: if you have an account there, log in to it without --create"
	case protocol.ErrNumNoCreation:
		text = "attach: {url} says: {answer}. You can: create an account on its web site, then attach without --create"
	}
	return words.Explain(err, words.Plain(phrase(text, "url", s.url, "email", s.email, "answer", answer.Text())))
}

// closed reports whether a project does not let people make an account from here.
func closed(c *protocol.ProjectConfig) bool {
	return c.AccountCreationDisabled || c.ClientCreationDisabled
}

// makeAccount makes an account and gets its key.
func (s *signup) makeAccount(ctx context.Context, c *protocol.ProjectConfig) (err error) {
	if closed(c) {
		return fault("attach: {project} allows new accounts on its web site only; create one at {url}, then attach without --create", "project", c.Name, "url", s.url)
	}
	if err := s.terms(ctx, c); err != nil {
		return err
	}
	who, _, _ := strings.Cut(s.email, "@")
	least := max(c.MinPasswordLength, 1)
	switch {
	case s.ask == nil && s.email == "":
		return fault("attach: --create needs --email")
	case s.ask == nil && s.password == "":
		return fault("attach: --create needs --password or --password-stdin, with at least {n} characters", "n", least)
	case s.email == "":
		if s.email, err = s.ask.need(ctx, "E-mail address"); err != nil {
			return err
		}
		who, _, _ = strings.Cut(s.email, "@")
	}
	if s.name == "" {
		s.name = who
		if s.ask != nil {
			if s.name, err = s.ask.line(ctx, "Public name", who); err != nil {
				return err
			}
		}
	}
	if s.password == "" {
		if s.password, err = s.ask.newPassword(ctx, least); err != nil {
			return err
		}
	} else if len(s.password) < least {
		return fault("attach: the password is too short: {project} requires at least {least} characters", "project", c.Name, "least", least)
	}
	key, err := s.client.CreateAccount(ctx, s.url, schedulerop.NewAccount{
		Email: s.email, PasswdHash: protocol.PasswordHash(s.password, s.email), Name: s.name, Consent: c.TermsOfUse != "",
	})
	if err == nil {
		s.key = string(key)
		s.say("Created the account %s at %s.", s.email, c.Name)
	}
	return s.refused(err)
}

// terms asks the person to accept the project's terms of use, if it has any.
func (s *signup) terms(ctx context.Context, c *protocol.ProjectConfig) error {
	if c.TermsOfUse == "" || s.accept {
		return nil
	}
	if s.ask == nil {
		return fault("attach: you must accept the terms of use of {project}; read them at {url}, then add --accept-terms", "project", c.Name, "url", s.url)
	}
	s.say("\nTerms of use of %s:\n\n%s\n", c.Name, strings.TrimSpace(printable(c.TermsOfUse)))
	yes, err := s.ask.yes(ctx, "Do you accept them?")
	if err == nil && !yes {
		err = fault("attach: no account was created, because the terms of use were not accepted")
	}
	return err
}
