package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/protocol/appipc"
)

// inhabitants returns the processes of applications in an agent's slots.
func inhabitants(t *testing.T, a *testhost.Agent) (pids []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(all) == 0 {
		t.Skip("processes cannot be looked at here")
	}
	for _, name := range all {
		env, err := os.ReadFile(name)
		if err == nil && strings.Contains(string(env), "STARLING_SLOT="+a.Dir+"/") {
			pids = append(pids, filepath.Base(filepath.Dir(name)))
		}
	}
	return pids
}

// saved returns the content of the state files in an agent's slots, by result.
func saved(t *testing.T, a *testhost.Agent) map[string]appipc.TaskState {
	t.Helper()
	all := make(map[string]appipc.TaskState)
	names, _ := filepath.Glob(filepath.Join(a.Dir, "slots", "*", appipc.TaskStateFile))
	for _, name := range names {
		if b, err := os.ReadFile(name); err == nil {
			if st, err := appipc.ParseTaskState(b); err == nil {
				all[st.ResultName] = st
			}
		}
	}
	return all
}

// TestKills kills agents and their project's server at arbitrary moments. Unlike in a power cut,
// the applications survive. The next agent must end all of them, no work before a checkpoint may be
// repeated, and all of it must be credited once. STARLING_KILLS sets the number of kills. The test
// prints its observations.
func TestKills(t *testing.T) {
	t.Parallel()
	kills, seed := 4, uint64(time.Now().UnixNano())
	if n, err := strconv.Atoi(os.Getenv("STARLING_KILLS")); err == nil {
		kills = n
	}
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute+time.Duration(kills)*10*time.Second)
	defer cancel()
	p := newProject(t, ctx)
	exponents, pause := []int{4423, 4253, 3217, 2281, 2203, 1279}, time.Millisecond
	if kills > 4 { // with real work
		exponents, pause = []int{44497, 23209, 21701, 19937, 11213, 9941, 86243, 9689, 4423, 4253, 3217, 2281, 2203}, 0
	}
	if kills > 200 { // enough work for all that time
		exponents = append(exponents, 110503, 132049)
	}
	workWith(t, ctx, p, 2, slowly(pause), exponents...)
	serve(t, ctx, p)
	agents := []*testhost.Agent{newAgent(t, "a1"), newAgent(t, "a2")}
	for _, a := range agents {
		startAgent(t, ctx, a, p)
	}
	var orphans, behind, servers int
	for n := range kills {
		a := agents[n%len(agents)]
		if n%4 == 3 {
			p.Kill()
			servers++
			must(t, p.Serve(ctx))
		}
		select { // some moment
		case <-ctx.Done():
			t.Fatal(ctx.Err())
		case <-time.After(time.Duration(chance.Int64N(int64(2 * time.Second)))):
		}
		before, err := a.Status(ctx)
		must(t, err)
		a.Process().Kill()
		alive := inhabitants(t, a)
		orphans += len(alive)
		states := saved(t, a)
		must(t, a.Start())
		after := await(t, ctx, a, "the agent to be back", func(control.Status) bool { return true })
		for _, pid := range inhabitants(t, a) {
			if slices.Contains(alive, pid) {
				t.Errorf("kill %d: process %s of the killed agent lives on", n, pid)
			}
		}
		for _, was := range before.Tasks {
			i := slices.IndexFunc(after.Tasks, func(k control.Task) bool { return k.Name == was.Name })
			st, ok := states[was.Name]
			if i < 0 || !ok {
				continue // reported meanwhile, or not started
			}
			behind++
			const step = 1e-3 // precision of the numbers in the files
			if now := after.Tasks[i]; now.CPUTime < st.CPUTime.Seconds()-step || now.Fraction < st.FractionDone-step {
				t.Errorf("kill %d: %s goes on from %.3f s of CPU time and %.4f, the checkpoint had %.3f s and %.4f",
					n, now.Name, now.CPUTime, now.Fraction, st.CPUTime.Seconds(), st.FractionDone)
			}
		}
	}
	creditedOnce(t, ctx, p, 2, exponents...)
	for _, a := range agents {
		await(t, ctx, a, "all to be reported", func(s control.Status) bool { return len(s.Tasks) == 0 })
		until(t, ctx, a, "the slots to be empty", func() bool {
			left, _ := filepath.Glob(filepath.Join(a.Dir, "slots", "*"))
			return len(left) == 0
		})
		if err := a.Stop(); err != nil {
			t.Error(err)
		}
		if left := inhabitants(t, a); len(left) > 0 {
			t.Errorf("processes are left: %v", left)
		}
		jobs, _ := filepath.Glob(filepath.Join(a.Dir, "job_log_*.txt"))
		if len(jobs) != 1 {
			t.Fatalf("job logs: %v", jobs)
		}
		text, _ := os.ReadFile(jobs[0])
		if n := strings.Count(string(text), " es 0"); n != len(exponents) {
			t.Errorf("%d jobs have ended well, want %d:\n%s", n, len(exponents), text)
		}
	}
	fmt.Fprintf(t.Output(), "%d kills of agents and %d of the server: %d applications outlived their agent and were ended, %d tasks went on from a checkpoint, %d workunits credited once on each of %d computers\n",
		kills, servers, orphans, behind, len(exponents), len(agents))
}
