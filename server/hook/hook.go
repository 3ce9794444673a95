// Package hook runs the project's own programs: validators, assimilators and handlers of trickle
// messages. A program gets one JSON object on its standard input and, if it is asked for an answer,
// writes one on its standard output. docs/programs.md describes the objects.
//
// The package names, starts and limits programs, and describes results to them. The callers define
// the meaning of an answer, and when a program that failed runs again.
package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/procgroup"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol/bxml"
)

// Prefix begins the name of a validator, assimilator or trickle handler that is
// a program.
const Prefix = "exec:"

const (
	// Timeout is the maximum run time of a program.
	Timeout = 5 * time.Minute
	// maxOutput bounds an answer.
	maxOutput = 1 << 20
	// maxStderr is the maximum size of a program's error output in the log.
	maxStderr = 2 << 10
	// maxQuote is the maximum number of bytes of an invalid answer in an error.
	maxQuote = 60
	// linger is the time for which a program's children may keep its output open after its end.
	linger = 2 * time.Second
)

// ErrTimeout means that a program hangs, or is too slow.
var ErrTimeout = errors.New("it ran for more than")

// A Command is a program of the project.
type Command struct {
	Args    []string      // the program and its arguments
	Dir     string        // the project's directory, in which it runs
	Timeout time.Duration // 0: Timeout
	Pool    *Pool         // of long-running programs, for one of them (nil: started each time)
}

// Parse reads the words of a command, which are split as a shell does, with quotes and backslashes
// but nothing else. A program whose name contains a slash is looked for relative to dir, others in
// PATH. The error describes an invalid command or a missing program.
func Parse(text, dir string) (Command, error) {
	args, err := Split(text)
	if err != nil {
		return Command{}, fmt.Errorf("%s%s: %w", Prefix, text, err)
	}
	if len(args) == 0 {
		return Command{}, fmt.Errorf("%s does not name a program", Prefix)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return Command{}, err
	}
	if strings.ContainsAny(args[0], `/\`) && !filepath.IsAbs(args[0]) {
		args[0] = filepath.Join(dir, filepath.FromSlash(args[0]))
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		if e, ok := errors.AsType[*exec.Error](err); ok {
			err = e.Err
		}
		switch st, serr := os.Stat(args[0]); {
		case errors.Is(err, exec.ErrNotFound) && filepath.Base(args[0]) == args[0]:
			err = fmt.Errorf("%s is not in PATH; a program in the project's directory is ./%s", args[0], args[0])
		case errors.Is(err, fs.ErrPermission) && serr == nil && st.Mode()&0o111 == 0:
			err = fmt.Errorf("it cannot be executed: chmod +x %s", words.Shell(args[0]))
		}
		return Command{}, fmt.Errorf("%s%s: %w", Prefix, text, err)
	}
	return Command{Args: args, Dir: dir}, nil
}

// Run starts the program, gives it in as JSON and, if out is not nil, reads its answer into out. It
// is an error if the program cannot be started, does not exit with status 0 in time, or answers
// with anything but one object with known keys, which out accepts if it is an Answer. The error
// quotes the end of the program's standard error, and the programs that it has started are killed.
// A long-running program gets one line, and answers with one.
func (c Command) Run(ctx context.Context, in, out any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	limit := c.Timeout
	if limit <= 0 {
		limit = Timeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w %v", ErrTimeout, limit))
	defer cancel()
	if c.Pool != nil {
		return c.Pool.ask(ctx, c, append(text, '\n'), out)
	}
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.WaitDelay = c.Dir, linger
	procgroup.Own(cmd)
	cmd.Stdin = bytes.NewReader(append(text, '\n'))
	answer, complaint := &head{limit: maxOutput}, &tail{limit: maxStderr}
	cmd.Stdout, cmd.Stderr = answer, complaint
	// A program that leaves others behind with its output open has ended all the same.
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		procgroup.Kill(cmd) // before the next run
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return fmt.Errorf("%s: %w%s", c.Args[0], err, complaint)
	}
	if out == nil {
		return nil
	}
	if answer.lost {
		return fmt.Errorf("%s: its answer has more than %d bytes", c.Args[0], maxOutput)
	}
	if err := decode(answer.text, out); err != nil {
		return fmt.Errorf("%s: %w%s", c.Args[0], err, complaint)
	}
	return nil
}

// An Answer returns an error if it does not fit the question.
type Answer interface{ Accept() error }

var errMore = errors.New("its answer is followed by more data")

// decode reads an answer, which is one object with known keys.
func decode(text []byte, out any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(out); err != nil {
		return fmt.Errorf("its answer: %w%s", err, quoted(text))
	}
	if d.More() {
		return errMore
	}
	if a, ok := out.(Answer); ok {
		return a.Accept()
	}
	return nil
}

// quoted returns the beginning of an answer that is not JSON for an error message, with the cure.
func quoted(text []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if line == "" || strings.HasPrefix(line, "{") {
		return ""
	}
	return fmt.Sprintf(" (it printed %q, but its output must be one JSON object; other messages belong on its standard error)", bxml.Printable(line, maxQuote))
}

// head keeps the beginning of the data written to it.
type head struct {
	text  []byte
	limit int
	lost  bool
}

func (h *head) Write(b []byte) (int, error) {
	n := min(len(b), h.limit-len(h.text))
	h.text = append(h.text, b[:n]...)
	h.lost = h.lost || n < len(b)
	return len(b), nil
}

// tail keeps the end of the data written to it.
type tail struct {
	text  []byte
	limit int
}

func (t *tail) Write(b []byte) (int, error) {
	t.text = append(t.text, b...)
	if n := len(t.text) - t.limit; n > 0 {
		t.text = append(t.text[:0], t.text[n:]...)
	}
	return len(b), nil
}

// String returns the text as the end of an error message.
func (t *tail) String() string {
	s := strings.Join(strings.Fields(strings.ToValidUTF8(string(t.text), "?")), " ")
	if s == "" {
		return ""
	}
	return " (stderr: " + s + ")"
}

// errQuote means that a line ends within quotes.
var errQuote = errors.New("a quote is not closed")

// Split cuts a line into words as a shell does, with quotes and backslashes but
// nothing else.
func Split(line string) (words []string, err error) {
	var word strings.Builder
	in, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && quote != '\'' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			in = true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, in = c, true
		case quote == 0 && (c == ' ' || c == '\t'):
			if in {
				words = append(words, word.String())
				word.Reset()
				in = false
			}
		default:
			word.WriteByte(c)
			in = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("%w: %c", errQuote, quote)
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}
