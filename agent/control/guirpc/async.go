package guirpc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
)

// async holds the calls that ask a project's server: one call starts the request, another
// asks for the outcome until it is there.
type async struct {
	mu      sync.Mutex
	replies map[string]string // by call
}

const inProgress = -204 // BOINC's ERR_IN_PROGRESS

// patience bounds a server's time to answer.
const patience = 2 * time.Minute

// begin runs ask in the background and keeps its reply for the poll.
func (r *request) begin(pending string, ask func(ctx context.Context) string) string {
	a, name := &r.srv.async, r.name
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.replies == nil {
		a.replies = make(map[string]string)
	}
	a.replies[name] = pending
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), patience)
	go func() {
		defer cancel()
		reply := ask(ctx)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.replies[name] = reply
	}()
	return success
}

func poll(name string) func(*request) string {
	return func(r *request) string {
		a := &r.srv.async
		a.mu.Lock()
		defer a.mu.Unlock()
		if reply, ok := a.replies[name]; ok {
			return reply
		}
		return errorText("no such request is in progress")
	}
}

func (r *request) projectConfig() string {
	num := func(n int) string {
		return fmt.Sprintf("<project_config>\n<error_num>%d</error_num>\n</project_config>\n", n)
	}
	url, err := protocol.CanonicalMasterURL(r.arg("url"))
	if err != nil {
		return errorText(sysfault.Plain(err))
	}
	return r.begin(num(inProgress), func(ctx context.Context) string {
		c, err := r.srv.Agent.ProjectConfig(ctx, url)
		if err != nil {
			return num(errorNum(err))
		}
		return string(c.Encode())
	})
}

func (r *request) lookupAccount() string {
	return r.account(func(ctx context.Context, url string) (protocol.Authenticator, error) {
		return r.srv.Agent.LookupAccount(ctx, url, r.arg("email_addr"), r.arg("passwd_hash"))
	})
}

func (r *request) createAccount() string {
	return r.account(func(ctx context.Context, url string) (protocol.Authenticator, error) {
		return r.srv.Agent.CreateAccount(ctx, url, r.arg("email_addr"), r.arg("passwd_hash"), r.arg("user_name"), r.has("consented_to_terms"))
	})
}

func (r *request) account(ask func(ctx context.Context, url string) (protocol.Authenticator, error)) string {
	url, err := protocol.CanonicalMasterURL(r.arg("url"))
	if err != nil {
		return errorText(sysfault.Plain(err))
	}
	return r.begin(accountError(inProgress, "in progress"), func(ctx context.Context) string {
		key, err := ask(ctx, url)
		if err != nil {
			return accountError(errorNum(err), sysfault.Plain(err))
		}
		var w bxml.Writer
		w.Open("account_out")
		w.Text("authenticator", string(key))
		w.Close("account_out")
		return string(w.Bytes())
	})
}

func accountError(num int, msg string) string {
	var w bxml.Writer
	w.Open("account_out")
	w.Int("error_num", int64(num))
	w.Text("error_msg", msg)
	w.Close("account_out")
	return string(w.Bytes())
}

// errorNum returns BOINC's number for an error of a project's server.
func errorNum(err error) int {
	if a, ok := errors.AsType[*protocol.AccountError](err); ok {
		return a.Num
	}
	return protocol.ErrNumPermanentHTTP
}
