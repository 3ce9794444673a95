package db

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// surveyTime is the maximum time for the answer of another server.
const surveyTime = 2 * time.Second

// Reasons for which a PostgreSQL server is not used though it can be reached.
var (
	ErrStandby  = errors.New("this PostgreSQL server is a standby, which refuses changes: name the primary, or name all servers and add target_session_attrs=read-write")
	ErrReplaced = errors.New("this PostgreSQL server was the primary before another one was promoted: rebuild it as a standby of the new primary")
	ErrPooler   = errors.New("a connection pooler such as PgBouncer does not keep the settings of a session: connect to PostgreSQL directly; each process of a project uses at most " + strconv.Itoa(connections) + " connections")
)

// sessionSettings keep the planner from guessing. It plans each query once per connection, maybe
// while tables are still empty, and would read whole tables later. Each frequent query has an index made
// for it. The planner overestimates the cost of that, so it would compile
// each query, or start processes that share a scan of the whole index.
//
// They are sent when a connection starts, so that a pooler refuses them instead of losing them.
var sessionSettings = map[string]string{
	"plan_cache_mode":                 "force_generic_plan",
	"enable_seqscan":                  "off",
	"enable_bitmapscan":               "off",
	"max_parallel_workers_per_gather": "0",
	"jit":                             "off",
}

// A lineage recognizes a primary that was replaced. A standby that is promoted starts a new
// timeline of the same database cluster, so of two servers of one cluster the one with the lower
// timeline is out of date. Its methods may be called concurrently.
type lineage struct {
	mu       sync.Mutex
	timeline map[string]int64 // the highest seen, by the cluster's identifier
}

// A standing is the position of a PostgreSQL server in the history of its cluster.
type standing struct {
	cluster  string
	timeline int64
	standby  bool
	pooled   bool // the session's settings were lost on the way
}

const standingQuery = `
SELECT (SELECT system_identifier FROM pg_control_system())::text, pg_is_in_recovery(), current_setting('plan_cache_mode'),
       CASE WHEN pg_is_in_recovery() THEN (SELECT timeline_id FROM pg_control_checkpoint())
            ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int END`

func standingOf(ctx context.Context, c *pgconn.PgConn) (standing, error) {
	results, err := c.Exec(ctx, standingQuery).ReadAll()
	if err != nil {
		return standing{}, err
	}
	row := results[0].Rows[0]
	timeline, err := strconv.ParseInt(string(row[3]), 10, 64)
	return standing{
		cluster: string(row[0]), timeline: timeline, standby: string(row[1]) == "t",
		pooled: string(row[2]) != sessionSettings["plan_cache_mode"],
	}, err
}

// watch makes c connect only to the current primary.
func (l *lineage) watch(c *pgx.ConnConfig) {
	maps.Copy(c.RuntimeParams, sessionSettings)
	everyone, wanted := servers(c), c.ValidateConnect
	c.ValidateConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		if wanted != nil {
			if err := wanted(ctx, conn); err != nil {
				return err
			}
		}
		p, err := standingOf(ctx, conn)
		if err != nil {
			return fmt.Errorf("find out whether this PostgreSQL server is the primary: %w", err)
		}
		l.survey(ctx, everyone)
		return l.judge(p)
	}
}

// judge returns the reason for which a server at p is not used, or nil.
func (l *lineage) judge(p standing) error {
	switch newest := l.learn(p); {
	case p.pooled:
		return ErrPooler
	case p.standby:
		return ErrStandby
	case p.timeline < newest:
		return fmt.Errorf("%w (its timeline is %d, the new one's %d)", ErrReplaced, p.timeline, newest)
	}
	return nil
}

// learn returns the highest timeline of p's cluster.
func (l *lineage) learn(p standing) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timeline == nil {
		l.timeline = make(map[string]int64)
	}
	l.timeline[p.cluster] = max(l.timeline[p.cluster], p.timeline)
	return l.timeline[p.cluster]
}

// servers returns the ways to connect to each server in c.
func servers(c *pgx.ConnConfig) map[string][]*pgconn.Config {
	all := make(map[string][]*pgconn.Config)
	for _, f := range append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...) {
		one := c.Config.Copy()
		one.Host, one.Port, one.TLSConfig, one.Fallbacks, one.ValidateConnect = f.Host, f.Port, f.TLSConfig, nil, nil
		where := fmt.Sprint(f.Host, " ", f.Port)
		all[where] = append(all[where], one)
	}
	return all
}

// survey learns from all servers, if there are several. A process that has not connected to the
// new primary would mistake the old one for it. Servers that do not answer in time are skipped.
func (l *lineage) survey(ctx context.Context, everyone map[string][]*pgconn.Config) {
	if len(everyone) == 1 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, surveyTime)
	defer cancel()
	var wg sync.WaitGroup
	for _, ways := range everyone {
		wg.Go(func() {
			for _, way := range ways {
				conn, err := pgconn.ConnectConfig(ctx, way)
				if err != nil {
					continue
				}
				if p, err := standingOf(ctx, conn); err == nil {
					l.learn(p)
				}
				_ = conn.Close(ctx)
				return
			}
		})
	}
	wg.Wait()
}

// refusedSettings reports whether err is a pooler's answer to the settings of a new connection: a
// violation of the protocol. PostgreSQL does not answer them with that error.
func refusedSettings(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "08P01"
}
