package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
)

// logFlags adds the flags that newLog reads, for all commands.
func logFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.String("log-format", "text", "log format: text or json")
	f.String("log-level", "info", "least severe messages to log: debug, info, warn or error")
}

// newLog returns the logger to stderr that the flags specify.
func newLog(cmd *cobra.Command) (*slog.Logger, error) {
	format, err := cmd.Flags().GetString("log-format")
	if err != nil {
		return nil, err
	}
	name, err := cmd.Flags().GetString("log-level")
	if err != nil {
		return nil, err
	}
	opts := new(slog.HandlerOptions)
	switch name {
	case "debug":
		opts.Level = slog.LevelDebug
	case "info":
		opts.Level = slog.LevelInfo
	case "warn":
		opts.Level = slog.LevelWarn
	case "error":
		opts.Level = slog.LevelError
	default:
		return nil, fmt.Errorf("--log-level %q: want debug, info, warn or error", name)
	}
	var h slog.Handler
	switch format {
	case "text":
		h = slog.NewTextHandler(os.Stderr, opts)
	case "json":
		h = slog.NewJSONHandler(os.Stderr, opts)
	default:
		return nil, fmt.Errorf("--log-format %q: want text or json", format)
	}
	if opts.Level == slog.LevelDebug {
		return slog.New(h), nil
	}
	return slog.New(limitRepeats(h)), nil
}
