package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// A terminal asks a person for input.
type terminal struct {
	in     *os.File
	out    io.Writer
	editor *term.Terminal
}

// openTerminal returns the terminal that the command was started on, or nil if there is none.
func openTerminal() *terminal {
	if !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stderr.Fd())) {
		return nil
	}
	return &terminal{os.Stdin, plainWriter{os.Stderr}, term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{os.Stdin, os.Stderr}, "")}
}

// say prints a message that does not need an answer.
func (t *terminal) say(format string, args ...any) { fmt.Fprintf(t.out, format+"\n", args...) }

// line asks for a line. An empty one means otherwise.
func (t *terminal) line(ctx context.Context, prompt, otherwise string) (string, error) {
	if otherwise != "" {
		prompt += " [" + otherwise + "]"
	}
	s, err := t.interruptible(ctx, func() (string, error) {
		t.editor.SetPrompt(prompt + ": ")
		return t.editor.ReadLine()
	})
	if s = strings.TrimSpace(s); s == "" {
		s = otherwise
	}
	return s, err
}

// need asks until there is an answer.
func (t *terminal) need(ctx context.Context, prompt string) (string, error) {
	for {
		if s, err := t.line(ctx, prompt, ""); s != "" || err != nil {
			return s, err
		}
	}
}

// yes asks a question that only a yes answers with yes.
func (t *terminal) yes(ctx context.Context, question string) (bool, error) {
	s, err := t.line(ctx, question+" (yes or no)", "no")
	s = strings.ToLower(s)
	return s == "y" || s == "yes", err
}

// number asks for a number from 1 to most.
func (t *terminal) number(ctx context.Context, prompt string, most int) (int, error) {
	for {
		s, err := t.need(ctx, fmt.Sprintf("%s (1 to %d)", prompt, most))
		if err != nil {
			return 0, err
		}
		if n, err := strconv.Atoi(s); err == nil && n >= 1 && n <= most {
			return n, nil
		}
		t.say("%q is not one of the choices.", s)
	}
}

// password asks for something that is not shown.
func (t *terminal) password(ctx context.Context, prompt string) (string, error) {
	return t.interruptible(ctx, func() (string, error) { return t.editor.ReadPassword(prompt + ": ") })
}

// newPassword asks for a password twice.
func (t *terminal) newPassword(ctx context.Context, least int) (string, error) {
	for {
		s, err := t.password(ctx, fmt.Sprintf("New password (at least %d characters, not shown)", least))
		if err != nil {
			return "", err
		}
		if len(s) < least {
			t.say("This one has only %d.", len(s))
			continue
		}
		again, err := t.password(ctx, "Repeat the password")
		if err != nil {
			return "", err
		}
		if s == again {
			return s, nil
		}
		t.say("The passwords differ. Try again.")
	}
}

// interruptible lets ask use the terminal, which does not echo input meanwhile. The terminal is
// restored afterwards, also if the person interrupts that.
func (t *terminal) interruptible(ctx context.Context, ask func() (string, error)) (string, error) {
	fd := int(t.in.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(fd, before) }()
	if width, height, err := term.GetSize(fd); err == nil {
		_ = t.editor.SetSize(width, height)
	}
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := ask()
		answers <- answer{text, err}
	}()
	select {
	case a := <-answers:
		if !errors.Is(a.err, io.EOF) { // Ctrl-C
			return a.text, a.err
		}
	case <-ctx.Done():
	}
	fmt.Fprint(t.out, "\r\n")
	return "", fault("interrupted; nothing was changed")
}
