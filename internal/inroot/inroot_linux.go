// Package inroot opens files below a folder as a process would whose root is this folder: links,
// even absolute ones, and ".." never lead out of it.
//
// The system call openat2 does the same. Services with RestrictSUIDSGID, such as the agent's, may not
// use it.
package inroot

import (
	"strings"

	"golang.org/x/sys/unix"
)

const (
	maxLinks = 40  // as in the kernel
	maxDepth = 256 // of folders, since each is open for a moment
)

// Open returns a descriptor of the file at a path, with which it can be neither read nor changed. A
// link at the end of the path is followed if follow is set. The caller closes the descriptor.
func Open(root int, path string, follow bool) (int, error) {
	start, err := unix.Openat(root, ".", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	way := []int{start} // the folders from the root to the current one
	defer func() {
		for _, fd := range way {
			_ = unix.Close(fd)
		}
	}()
	up := func(to int) {
		for len(way) > to {
			_ = unix.Close(way[len(way)-1])
			way = way[:len(way)-1]
		}
	}
	links := 0
	for rest := strings.Split(path, "/"); len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			up(max(1, len(way)-1))
			continue
		}
		fd, target, err := step(way[len(way)-1], name, follow || len(rest) > 0)
		if err != nil {
			return -1, err
		}
		if target == "" {
			if way = append(way, fd); len(way) > maxDepth {
				return -1, unix.ENAMETOOLONG
			}
			continue
		}
		if links++; links > maxLinks {
			return -1, unix.ELOOP
		}
		if strings.HasPrefix(target, "/") {
			up(1)
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	found := way[len(way)-1]
	way = way[:len(way)-1]
	return found, nil
}

// step opens a file in a folder. If it is a link that is followed, step returns its target instead.
func step(dir int, name string, follow bool) (fd int, target string, err error) {
	fd, err = NoLink(dir, name)
	if err != unix.ELOOP { //nolint:errorlint // as returned
		return fd, "", err
	}
	if !follow {
		fd, err = unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		return fd, "", err
	}
	b := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(dir, name, b)
	if err == nil && n == 0 {
		err = unix.ENOENT
	}
	return -1, string(b[:max(0, n)]), err
}

// NoLink opens a file in a folder by its name alone, like Open. If it is a link, NoLink returns
// ELOOP.
func NoLink(dir int, name string) (int, error) {
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
		err = unix.ELOOP
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
