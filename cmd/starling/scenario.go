package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/starling-grid/starling/agent/api"
	"github.com/starling-grid/starling/agent/boincimport"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/version"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/sim"
)

// importScenario prints a scenario made from the data directory of a BOINC client or of a Starling
// agent.
func importScenario(ctx context.Context, out io.Writer, dir string) error {
	s, err := scenarioOf(ctx, dir)
	if err != nil {
		return err
	}
	if len(s.Projects) == 0 {
		return fmt.Errorf("%s: none of its projects is set to compute", dir)
	}
	text, err := s.TOML()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "# Made by starling simulate --import from %s: an endless supply of tasks like those there.\n%s", dir, text)
	return err
}

func scenarioOf(ctx context.Context, dir string) (sim.Scenario, error) {
	door, err := foreigndir.Enter(ctx, dir)
	if err != nil {
		return sim.Scenario{}, err
	}
	defer door.Close()
	src, err := door.Read("client_state.xml", boincimport.MaxState)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(dir, "state.db")); err != nil {
			return sim.Scenario{}, fmt.Errorf("%s has neither the client_state.xml of a BOINC client nor the state.db of Starling", dir)
		}
		r, err := api.OfflineDecision(dir, version.Version)
		if err != nil {
			return sim.Scenario{}, fmt.Errorf("%s: %w; if an agent is running there, use starling why --save instead", dir, err)
		}
		return sim.FromSnapshot(scenarioName(dir), r.Snapshot), nil
	} else if err != nil {
		return sim.Scenario{}, err
	}
	f, err := protocol.ParseClientState(src)
	if err != nil {
		return sim.Scenario{}, fmt.Errorf("%s: %w", dir, err)
	}
	var layers []prefs.Layer
	for _, name := range []string{"global_prefs.xml", "global_prefs_override.xml"} {
		text, err := door.Read(name, settings.MaxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return sim.Scenario{}, err
		}
		l, err := prefs.ParseFile(name, text, f.HostVenue, name == "global_prefs.xml")
		if err != nil {
			return sim.Scenario{}, err
		}
		layers = append(layers, l)
	}
	return sim.FromBOINC(scenarioName(dir), f, prefs.Merge(layers...).Prefs), nil
}

func scenarioName(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "imported"
	}
	return filepath.Base(abs)
}
