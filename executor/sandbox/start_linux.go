package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// variable contains the policy for the process that restricts itself.
const variable = "STARLING_SANDBOX"

// marker, as the first argument, makes this program restrict itself and become another.
const marker = "--become-sandboxed"

// Start starts a command as cmd.Start does, but under a policy. The process first runs this
// program, which calls Main and so becomes the command. The error is the error of the command's own
// start, such as a format that cannot be executed.
func Start(cmd *exec.Cmd, p Policy) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	policy, err := json.Marshal(p)
	if err != nil {
		return err
	}
	ours, theirs, err := pair()
	if err != nil {
		return err
	}
	defer ours.Close()
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	program := cmd.Path
	if program == self {
		program = itself // its path may be closed to the user that it becomes
	}
	cmd.Args = append([]string{self, marker, program}, cmd.Args[1:]...)
	cmd.Path, cmd.Err = self, nil
	cmd.Env = append(cmd.Env, variable+"="+string(policy))
	if p.Root != "" && p.User == 0 {
		ownNamespaces(cmd)
	}
	cmd.ExtraFiles = []*os.File{theirs}
	err = cmd.Start()
	_ = theirs.Close()
	if err != nil && p.Root != "" {
		var errno unix.Errno // the program itself is not to blame, whose errors callers distinguish
		if errors.As(err, &errno); errno == unix.ENOSPC {
			return errors.New("create namespaces for the image: the limit of namespaces is reached")
		}
		return fmt.Errorf("create namespaces for the image: %v", err) //nolint:errorlint // likewise
	}
	if err != nil {
		return err
	}
	_ = ours.SetReadDeadline(time.Now().Add(patience))
	told, listener, err := hear(ours)
	if err != nil {
		_ = cmd.Process.Kill()
	}
	if err == nil && told == "" {
		if listener >= 0 {
			go supervise(listener, p)
		}
		return nil
	}
	if listener >= 0 {
		_ = unix.Close(listener)
	}
	_ = cmd.Wait()
	number, words, _ := strings.Cut(told, " ")
	if n, err := strconv.Atoi(number); err == nil && n > 0 {
		return fmt.Errorf("%s: %w", words, syscall.Errno(n))
	}
	return errors.Join(err, errors.New(words))
}

// patience is the maximum time that a process may take to restrict itself.
const patience = time.Minute

// itself is the path of this process's program, whatever its name.
const itself = "/proc/self/exe"

// pair returns the two ends of the connection between this process and the process that restricts
// itself.
func pair() (*net.UnixConn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "sandbox"), os.NewFile(uintptr(fds[1]), "sandbox")
	defer func() { _ = ours.Close() }() // the connection has its own descriptor
	conn, err := net.FileConn(ours)
	if err != nil {
		_ = theirs.Close()
		return nil, nil, err
	}
	return conn.(*net.UnixConn), theirs, nil
}

// hear returns the process's message about an error before it becomes the program, or "" for none,
// and the listener of its filter, or -1. A successful start closes the connection.
func hear(conn *net.UnixConn) (told string, listener int, err error) {
	listener = -1
	text, rights := make([]byte, 4096), make([]byte, unix.CmsgSpace(4))
	for {
		n, nr, _, _, err := conn.ReadMsgUnix(text, rights)
		if nr > 0 {
			if messages, err := unix.ParseSocketControlMessage(rights[:nr]); err == nil && len(messages) == 1 {
				if fds, err := unix.ParseUnixRights(&messages[0]); err == nil && len(fds) == 1 {
					unix.CloseOnExec(fds[0])
					listener = fds[0]
					told += strings.TrimPrefix(string(text[:n]), listening)
					continue
				}
			}
		}
		told += string(text[:n])
		switch {
		case errors.Is(err, io.EOF), err == nil && n == 0, len(told) > len(text):
			return told, listener, nil
		case err != nil:
			return told, listener, err
		}
	}
}

// listening is the byte that is sent with the listener.
const listening = "L"
