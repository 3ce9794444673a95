package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/internal/version"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
)

// patience is the time for which attach waits until a running agent has made contact.
const patience = 30 * time.Second

// startup is the time for which a project's server on this computer may refuse connections, because
// it was started just before. Once it accepts them, the agent tries again at once, at most retries times.
const (
	startup = 10 * time.Second
	retries = 3
)

func attachCmd(o *options) *cobra.Command {
	var s signup
	var stdin bool
	cmd := &cobra.Command{
		Use:   "attach [PROJECT] [--key ACCOUNT_KEY | --email E [--password P] [--create]]",
		Short: "Attach to a project",
		Long: "Attach to a project with an account key from its web site, or with the e-mail address and password of your account there; --create makes a new account.\n\n" +
			"On a terminal, starling asks for whatever is missing: \"starling attach\" alone lists projects to choose from. The agent need not be running.\n\nPROJECT is the URL of its web site, or the first letters of its name if it is in that list.",
		Example: "  starling attach\n  starling attach Einstein --email you@example.org\n  starling attach https://project.example/ --email you@example.org --password-stdin --create <password.txt",
		Args:    cobra.MaximumNArgs(1),

		ValidArgsFunction: offerKnown,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) > 0 {
				known, err := knownProjects()
				if err != nil {
					return err
				}
				if s.url, err = called(known, args[0]); err != nil {
					return err
				}
			}
			if stdin {
				if s.password, err = passwordFrom(cmd.InOrStdin()); err != nil {
					return err
				}
			} else {
				s.ask = openTerminal()
			}
			if s.client, err = serverClient(o.data); err != nil {
				return err
			}
			if err := s.complete(cmd.Context()); err != nil {
				return err
			}
			return attach(cmd, o, s.url, protocol.Authenticator(s.key))
		},
	}
	cmd.Flags().StringVar(&s.key, "key", "", "account key, as shown on the project's web site")
	cmd.Flags().StringVar(&s.email, "email", "", "e-mail address of the account")
	cmd.Flags().StringVar(&s.password, "password", "", "password of the account; prompted for if not given")
	cmd.Flags().BoolVar(&stdin, "password-stdin", false, "read the password from the first line of standard input")
	cmd.Flags().BoolVar(&s.create, "create", false, "create a new account")
	cmd.Flags().StringVar(&s.name, "name", "", "public name of the new account (default: the part of the e-mail address before the @)")
	cmd.Flags().BoolVar(&s.accept, "accept-terms", false, "accept the project's terms of use")
	cmd.MarkFlagsMutuallyExclusive("password", "password-stdin")
	cmd.MarkFlagsMutuallyExclusive("key", "email")
	cmd.MarkFlagsMutuallyExclusive("key", "create")
	return cmd
}

// attach makes the agent attach, or leaves the request for the next one.
func attach(cmd *cobra.Command, o *options, u string, key protocol.Authenticator) error {
	client := o.client()
	err := client.Attach(cmd.Context(), u, key)
	if err == nil {
		return watchAttach(cmd, client, u, o.agent == nil)
	} else if !errors.Is(err, control.ErrNotRunning) {
		return err
	}
	acc := settings.Account{MasterURL: u, Authenticator: key, ResourceShare: 100}
	if err := settings.WriteAccount(o.data, acc); err != nil {
		return err
	}
	phraseln(cmd.OutOrStdout(), "Attached to {project}. No agent is running; {command}", "project", u, "command", o.start())
	if other := elsewhereRuns(o.data); other != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "starling: "+other)
	}
	return nil
}

// passwordFrom reads a password from the first line of r.
func passwordFrom(r io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(r, 4096)).ReadString('\n')
	if line = strings.TrimRight(line, "\r\n"); line != "" {
		return line, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = fault("the first line is empty")
	}
	return "", fmt.Errorf("--password-stdin: %w", err)
}

// serverClient asks projects' servers the way the agent does.
func serverClient(dataDir string) (*schedulerop.Client, error) {
	s, _, err := settings.InForce(dataDir, time.Now())
	if err != nil && !errors.Is(err, fs.ErrPermission) { // another user's agent
		return nil, err
	}
	way, err := httpclient.Transport(s.Proxy, s.NoProxy)
	if err != nil {
		return nil, err
	}
	return &schedulerop.Client{HTTP: httpclient.New(way), UserAgent: "Starling " + version.Version}, nil
}

// watchAttach waits for the project's first answer to a running agent. here means that it runs on this computer.
func watchAttach(cmd *cobra.Command, client *control.Client, u string, here bool) error {
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	begin, again := time.Now(), 0
	for time.Since(begin) < patience {
		pause := 100 * time.Millisecond
		s, err := client.Status(ctx)
		if ctx.Err() != nil {
			return fault("no longer waiting for the project; the agent keeps trying. To detach from it: starling detach {url}", "url", u)
		}
		if err != nil {
			return err
		}
		for _, p := range s.Projects {
			switch {
			case p.MasterURL != u:
			case p.Initialized && p.HostID == 0:
				// The project answered, but it has no such account.
				err := fault("attach {url}: rejected by the project: {answer}", "url", u, "answer", strings.Join(p.Notices, "; "))
				if p.TroubleCode == reason.KeyRefused { // servers' messages are for attached users
					err = fault("attach {url}: the project knows no account with this key. Copy the account key again from your account page on the project's web site, or use --email", "url", u)
				}
				return errors.Join(err, client.Detach(ctx, u))
			case p.Initialized:
				phraseln(out, "Attached to {project} as {user} (computer {id}).", "project", name(p), "user", p.UserName, "id", p.HostID)
				return nil
			case p.TroubleCode == reason.ServerDown && here && onThisComputer(u) && again < retries && time.Since(begin) < startup:
				pause = time.Second
				if !accepts(ctx, u) { // each contact of the agent that fails makes its next pause longer
					continue
				}
				again++
				if err := client.SteerProject(ctx, u, control.UpdateProject); err != nil && ctx.Err() == nil {
					return err
				}
			case p.Trouble != "":
				phraseln(out, "Attached to {project}, but the first contact failed. {trouble}", "project", u, "trouble", printable(p.Trouble))
				fmt.Fprintln(out, p.TroubleCure)
				return nil
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	phraseln(out, "Attached to {project}, which has not responded yet. The agent keeps trying.", "project", u)
	return nil
}

// onThisComputer reports whether a URL's host is this computer's loopback address.
func onThisComputer(u string) bool {
	parsed, err := url.Parse(u)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(parsed.Hostname())
	return err == nil && ip.IsLoopback() || parsed.Hostname() == "localhost"
}

// accepts reports whether the server of a project on this computer accepts connections.
func accepts(ctx context.Context, u string) bool {
	parsed, err := url.Parse(u)
	if err != nil {
		return false
	}
	dial := net.Dialer{Timeout: time.Second}
	c, err := dial.DialContext(ctx, "tcp", net.JoinHostPort(parsed.Hostname(), cmp.Or(parsed.Port(), parsed.Scheme)))
	if err != nil {
		return false
	}
	return c.Close() == nil
}

func detachCmd(o *options) *cobra.Command {
	var now bool
	cmd := &cobra.Command{
		Use:   "detach PROJECT",
		Short: "Detach from a project and remove its tasks from this computer",
		Long: "Detach from a project and remove its tasks from this computer. The tasks are suspended first and removed after 5 minutes; until then, \"starling undo PROJECT\" undoes the detach. Your account with the project is kept.\n\n" +
			"To lose no work, first run \"starling nomorework PROJECT\" and wait until \"starling tasks\" lists no more tasks of the project.\n\n" + aboutProject,
		Args: cobra.ExactArgs(1),

		ValidArgsFunction: o.urls,
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := o.project(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			client := o.client()
			err = client.Detach(cmd.Context(), u)
			if errors.Is(err, control.ErrNotRunning) {
				if err = settings.RemoveAccount(o.data, u); err == nil { // the next agent removes the rest
					phraseln(cmd.OutOrStdout(), "Detached from {project}.", "project", u)
				}
				return err
			}
			if err != nil {
				return err
			}
			return o.ended(cmd, client, u, "Detached from {project}.", now)
		},
	}
	cmd.Flags().BoolVar(&now, "now", false, "remove its tasks immediately; cannot be undone")
	return cmd
}

// ended prints how a detach or reset can be undone. With now it carries it out at once and prints
// that it is done.
func (o *options) ended(cmd *cobra.Command, client *control.Client, u, done string, now bool) error {
	s, err := client.Status(cmd.Context())
	if err != nil {
		return err
	}
	title, _ := o.called(cmd.Context(), u)
	for _, p := range s.Projects {
		if p.MasterURL != u || p.Ending == "" || p.Tasks == 0 {
			continue
		}
		if !now {
			phraseln(cmd.OutOrStdout(), "{project}: {text}", "project", title, "text", p.Ending)
			return nil
		}
		if err := client.SteerProject(cmd.Context(), u, control.FinishProject); err != nil {
			return err
		}
	}
	phraseln(cmd.OutOrStdout(), done, "project", title)
	return nil
}
