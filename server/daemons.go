package server

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/starling-grid/starling/server/api"
	"github.com/starling-grid/starling/server/assimilator"
	"github.com/starling-grid/starling/server/filedeleter"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/purger"
	"github.com/starling-grid/starling/server/transitioner"
	"github.com/starling-grid/starling/server/trickler"
	"github.com/starling-grid/starling/server/validator"
	"github.com/starling-grid/starling/server/webhook"
)

// A daemon processes its pending work in one pass and returns the amount of it.
type daemon struct {
	name string
	pass func(ctx context.Context, now time.Time) (int, error)
}

// daemons returns those that keep work moving in this process, in the order in
// which a workunit meets them. One that has something for others before its pass ends calls
// wake.
func (s *Server) daemons(wake func()) []daemon {
	st := s.Store.Shard(s.part.Shard)
	t := &transitioner.Transitioner{
		Store: st, Log: s.Log.With("part", "transitioner"), Describe: s.describeResult,
		Affinity: s.Config.Affinity, Urgent: s.Config.Urgent, DailyQuota: s.Config.DailyResultQuota, Settings: s.Config.Transitions,
	}
	if wake != nil { // it runs for long
		t.Clock = new(transitioner.Clock)
	}
	v := &validator.Validator{
		Store: st, Log: s.Log.With("part", "validator"), Checker: s.checker, Credit: s.creditPolicy,
		DailyQuota: s.Config.DailyResultQuota, Settings: s.Config.Validation, Stored: wake,
	}
	a := &assimilator.Assimilator{
		Store: st, Log: s.Log.With("part", "assimilator"), Handler: s.assimilation, Taken: t.Taken, Settings: s.Config.Assimilation,
	}
	m := &trickler.Trickler{Store: st, Log: s.Log.With("part", "trickler"), Handler: s.trickle}
	d := &filedeleter.Deleter{
		Store: st, Log: s.Log.With("part", "file_deleter"), Download: s.Download, Upload: s.Upload,
	}
	g := &purger.Purger{
		Store: st, Log: s.Log.With("part", "purger"), Dir: filepath.Join(s.Dir, project.ArchiveDir), Upload: s.Upload,
		Settings: s.Config.Purging,
	}
	rel := &transitioner.Releaser{Store: st, Log: s.Log.With("part", "releaser"), Files: s.Download}
	pub := &transitioner.Publisher{Store: s.Store, Log: s.Log.With("part", "publisher"), Uploads: s.Upload, Download: s.Download}
	courier := &transitioner.Courier{Store: s.Store, Log: s.Log.With("part", "courier"), Uploads: s.Upload, Download: s.Download}
	w := webhook.New(s.Store, s.Log.With("part", "webhooks"), s.Config.WebhookURLs, api.Status)
	programs := s.api()
	all := []daemon{
		{"transitioner", func(ctx context.Context, now time.Time) (int, error) {
			return passes(ctx, now, rel.Pass, pub.Pass, courier.Pass, t.Pass)
		}},
		{"validator", v.Pass},
		{"assimilator", a.Pass},
		{"trickler", m.Pass},
		{"filedeleter", d.Pass},
		{"purger", g.Pass},
		{"web", func(ctx context.Context, now time.Time) (int, error) { // work that its API promised
			return passes(ctx, now, w.Pass, programs.Expire)
		}},
	}
	return slices.DeleteFunc(all, func(d daemon) bool { return !s.part.has(d.name) })
}

// passes makes the passes of the parts of a daemon, one after the other. A part that fails does not stop the others.
func passes(ctx context.Context, now time.Time, parts ...func(context.Context, time.Time) (int, error)) (n int, err error) {
	for _, pass := range parts {
		m, failed := pass(ctx, now)
		n, err = n+m, errors.Join(err, failed)
	}
	return n, err
}
