package script_test

import (
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/script"
)

func TestInterpreter(t *testing.T) {
	for _, tt := range []struct {
		head, interpreter string
		windows           bool
	}{
		{"", "", false},
		{"echo hi\n", "", false},
		{"\x7fELF\n", "", false},
		{"#!/bin/sh", "/bin/sh", false},
		{"#!/bin/sh\necho hi\r\n", "/bin/sh", false},
		{"#! /bin/sh -e\n", "/bin/sh", false},
		{"#!\t/bin/sh\t-e\n", "/bin/sh", false},
		{"#!/bin/sh\r\n", "/bin/sh\r", true},
		{"#!/usr/bin/env python3\r\n", "/usr/bin/env", true},
		{"echo hi\r\n", "", false},
		{"#!\n", "", false},
		{"#!/" + strings.Repeat("x", 300) + "\n", "/" + strings.Repeat("x", script.Longest-3), false},
	} {
		if got := script.Interpreter([]byte(tt.head)); got != tt.interpreter {
			t.Errorf("%q: interpreter %q, want %q", tt.head, got, tt.interpreter)
		}
		if got := script.ForWindows([]byte(tt.head)); got != tt.windows {
			t.Errorf("%q: ends as on Windows: %v, want %v", tt.head, got, tt.windows)
		}
	}
}
