package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/starling-grid/starling/installer"
	"github.com/starling-grid/starling/internal/neighbor"
)

// enter makes sure that no other agent runs on this computer, unless the settings allow several. In
// that case another agent without that setting is only reported.
func enter(ctx context.Context, dataDir string, several bool, log *slog.Logger) (leave func(), err error) {
	dir, err := filepath.Abs(dataDir)
	if err != nil {
		return nil, err
	}
	leave, where, err := neighbor.Enter(ctx, dir, several)
	switch {
	case err == nil && where != "":
		log.Warn("another user runs an agent on this computer, and projects treat both as one computer; stop it, or set allow_multiple_clients = true in the starling.toml of each", "data", where)
		return leave, nil
	case !errors.Is(err, neighbor.ErrNotAlone):
		return leave, err
	case where == dir:
		return nil, fault("an agent is already running in {dir}", "dir", dataDir)
	case several:
		log.Warn("another agent on this computer is not set up to share it; set allow_multiple_clients = true in its starling.toml as well", "data", where)
		return func() {}, nil
	}
	return nil, fmt.Errorf("%s is already running%s. Projects would treat the two agents as one computer, and each would lose the other's tasks.\n"+
		"You can: use that agent: starling %sattach URL\n"+
		"Or run several: set allow_multiple_clients = true in the starling.toml of each data directory; this one is %s",
		whose(where), in(where), option(where), dir)
}

// elsewhereRuns returns a message that another agent runs, for commands that leave a request for
// their own. It returns "" if none does.
func elsewhereRuns(dataDir string) string {
	dir, err := filepath.Abs(dataDir)
	where, running := neighbor.Running()
	if err != nil || !running || where == dir {
		return ""
	}
	return fmt.Sprintf("%s is running%s; this command did not affect it. You can: use that agent instead: starling %sattach URL", whose(where), in(where), option(where))
}

func whose(dir string) string {
	if dir == installer.Packaged.DataDir {
		return "the computer's agent"
	}
	return "another agent on this computer"
}

func in(dir string) string {
	if dir == "" {
		return ""
	}
	return fmt.Sprintf(" (data directory %s)", dir)
}

func option(dir string) string {
	if dir == "" || dir == installer.Packaged.DataDir {
		return ""
	}
	return "--data " + dir + " "
}
