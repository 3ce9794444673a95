package hook

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/starling-grid/starling/internal/procgroup"
)

// LinesPrefix begins the name of a validator that is a program which keeps running: it reads one
// JSON object per line and answers each with one line.
const LinesPrefix = "lines:"

// idleTime is the time without questions after which a program's standard input ends.
const idleTime = time.Minute

// A Pool holds programs that keep running. Its zero value is ready, and its methods may be called
// concurrently. A program gets one question at a time. When the server ends, so does its input.
type Pool struct {
	mu   sync.Mutex
	idle map[string][]*running // by command
}

// A running program is waiting for a line.
type running struct {
	cmd       *exec.Cmd
	in        io.WriteCloser
	pipe      *os.File // of its output
	out       *bufio.Reader
	complaint *tail
	retire    *time.Timer
	leaving   atomic.Bool   // its end is expected
	ended     chan struct{} // closed at its end, which those that it has started may survive
}

// ask sends one line to a program and reads its answer into out. A program that does not answer in
// time, or not with one object that out accepts, is killed. One that has ended since the last
// question is started again.
func (p *Pool) ask(ctx context.Context, c Command, line []byte, out any) error {
	for {
		r, used := p.take(c)
		if r == nil {
			var err error
			if r, err = start(c); err != nil {
				return err
			}
		}
		answer, err := r.ask(ctx, line)
		if err == nil {
			err = decode(answer, out)
		}
		if err == nil {
			p.put(c, r)
			return nil
		}
		r.kill()
		if used && errors.Is(err, io.EOF) && len(answer) == 0 && ctx.Err() == nil {
			continue
		}
		return fmt.Errorf("%s: %w%s", c.Args[0], err, r.complaint)
	}
}

func key(c Command) string { return strings.Join(append(slices.Clone(c.Args), c.Dir), "\x00") }

// take returns an idle program, and whether there was one.
func (p *Pool) take(c Command) (*running, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := key(c)
	for n := len(p.idle[k]); n > 0; n = len(p.idle[k]) {
		r := p.idle[k][n-1]
		p.idle[k] = p.idle[k][:n-1]
		if r.retire.Stop() {
			return r, true
		}
	}
	return nil, false
}

// put makes a program idle.
func (p *Pool) put(c Command, r *running) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle == nil {
		p.idle = make(map[string][]*running)
	}
	k := key(c)
	r.retire = time.AfterFunc(idleTime, func() {
		p.mu.Lock()
		if list := p.idle[k]; list != nil {
			p.idle[k] = slices.DeleteFunc(list, func(x *running) bool { return x == r })
		}
		p.mu.Unlock()
		r.end()
	})
	p.idle[k] = append(p.idle[k], r)
}

// Close ends the input of idle programs and waits for them.
func (p *Pool) Close() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, list := range idle {
		for _, r := range list {
			if r.retire.Stop() {
				r.end()
			}
		}
	}
}

func start(c Command) (*running, error) {
	r := &running{
		cmd: exec.CommandContext(context.Background(), c.Args[0], c.Args[1:]...), complaint: &tail{limit: maxStderr}, ended: make(chan struct{}),
	}
	procgroup.Own(r.cmd)
	r.cmd.Dir, r.cmd.WaitDelay, r.cmd.Stderr = c.Dir, linger, r.complaint
	in, err := r.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, its, err := os.Pipe() // StdoutPipe would be closed at its end, with the last answer unread
	if err != nil {
		_ = in.Close()
		return nil, err
	}
	r.in, r.pipe, r.out, r.cmd.Stdout = in, out, bufio.NewReaderSize(out, maxOutput), its
	err = r.cmd.Start()
	_ = its.Close()
	if err != nil {
		_ = out.Close()
		return nil, fmt.Errorf("%s: %w", c.Args[0], err)
	}
	go func() {
		_ = r.cmd.Wait()
		if !r.leaving.Load() {
			procgroup.Kill(r.cmd) // now, since its process ID may become another's
		}
		close(r.ended)
	}()
	return r, nil
}

var errNoAnswer = fmt.Errorf("it ended without an answer: %w", io.EOF)

// ask writes a line and reads one. After an error, the program must be killed.
func (r *running) ask(ctx context.Context, line []byte) ([]byte, error) {
	type reply struct {
		line []byte
		err  error
	}
	done := make(chan reply, 1)
	go func() {
		_, err := r.in.Write(line)
		if err != nil { // it has ended, and its last output does not matter
			done <- reply{nil, io.EOF}
			return
		}
		answer, err := r.out.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			err = fmt.Errorf("its answer has more than %d bytes", maxOutput)
		case err != nil && len(answer) > 0:
			err = errors.New("its answer is not a whole line")
		case err != nil:
			err = errNoAnswer
		case r.out.Buffered() > 0: // it would be the next question's answer
			err = errMore
		}
		done <- reply{answer, err}
	}()
	var late <-chan time.Time // others hold its output open
	for ended := r.ended; ; {
		select {
		case got := <-done:
			return got.line, got.err
		case <-ended:
			ended, late = nil, time.After(linger)
		case <-late:
			return nil, errNoAnswer
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// kill ends a program at once, with those that it has started.
func (r *running) kill() {
	select {
	case <-r.ended:
	default:
		procgroup.Kill(r.cmd)
	}
	r.close()
}

// end ends a program's input, and kills it if it stays.
func (r *running) end() {
	r.leaving.Store(true)
	t := time.AfterFunc(linger, func() { procgroup.Kill(r.cmd) })
	r.close()
	t.Stop()
}

// close ends a program's input and waits for its end.
func (r *running) close() {
	_ = r.in.Close()
	<-r.ended
	_ = r.pipe.Close()
}
