package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// specOf describes a workunit, whose inputs it has fetched if they are to be copied.
func (a *API) specOf(ctx context.Context, s *wire.Submission, b store.APIBatch, i int, files *fetcher) (spec workgen.Spec, err error) {
	wu := &s.Workunits[i]
	spec.Params = paramsOf(s, wu)
	spec.Name, spec.Batch = unique(b, wu.Name), b.Number()
	spec.TokenID, spec.OwnPriority = b.TokenID, priorityOf(s, wu)
	for _, name := range wu.After {
		spec.After = append(spec.After, unique(b, name))
	}
	for k, in := range wu.Inputs {
		in.MD5 = strings.ToLower(in.MD5)
		if in.OutputOf != "" {
			in.OutputOf = unique(b, in.OutputOf)
		}
		given, err := a.given(ctx, in, fmt.Sprintf("in%d", k), files)
		if wrong, is := errors.AsType[*inputError](err); is {
			f := faultf(http.StatusUnprocessableEntity, wrong.cure, "input %q of workunit %q %s", in.Name, wu.Name, wrong.text)
			f.workunit = &i
			return spec, f
		}
		if err != nil {
			return spec, err
		}
		spec.Inputs = append(spec.Inputs, given)
	}
	return spec, nil
}

// nameless returns an error if an input lacks a name and needs one. It returns nil if each has a
// name: its own, its file's, or the template's.
func (a *API) nameless(s *wire.Submission) error {
	for i, wu := range s.Workunits {
		for _, in := range wu.Inputs {
			if in.Name != "" || in.Staged != "" || in.URL != "" || in.OutputOf != "" {
				continue
			}
			if _, err := os.Stat(filepath.Join(a.Dir, "templates", s.App+"_in")); err == nil && names.MatchString(s.App) {
				return nil
			}
			f := refusal(http.StatusUnprocessableEntity, words.T("an input of workunit {place} has no name", "place", i), words.T("give it the name under which the application opens it"))
			f.workunit = &i
			return f
		}
	}
	return nil
}

// priorityOf returns the priority of a workunit for its token.
func priorityOf(s *wire.Submission, wu *wire.Workunit) int64 {
	if wu.Priority != nil {
		return *wu.Priority
	}
	return s.Priority
}

func paramsOf(s *wire.Submission, wu *wire.Workunit) workgen.Params {
	return workgen.Params{
		CommandLine: wu.CommandLine,
		MinQuorum:   s.Quorum, TargetNResults: s.Targets, DelayBound: s.DelayBound, RscFpopsEst: cmp.Or(wu.FpopsEst, s.FpopsEst), RscFpopsBound: s.FpopsBound,
		RscMemoryBound: s.MemoryBound, RscDiskBound: s.DiskBound,
	}
}

// An inputError is why there can be no input file as a sender describes it.
type inputError struct{ text, cure string }

func (e *inputError) Error() string { return e.text }

func wrongInput(text string) error {
	return &inputError{text, "give its content as text or as base64, its url, with copy or with nbytes and md5, the name of a staged file, or the workunit whose output it is"}
}

// given returns an input file for workgen. Content that is part of the request is published under a
// name made from base.
func (a *API) given(ctx context.Context, in wire.Input, base string, files *fetcher) (g workgen.Given, err error) {
	g = workgen.Given{Path: base, Logical: in.Name, Counted: true}
	switch {
	case in.OutputOf != "" && (in.Staged != "" || in.URL != "" || in.Text != nil || in.Base64 != nil):
		return g, wrongInput("is the output of another workunit, and has other content")
	case in.OutputOf != "":
		return workgen.Given{Kind: workgen.OutputOf, Of: in.OutputOf, Path: in.File, Logical: in.Name}, nil
	case in.File != "":
		return g, wrongInput("names a file, and no workunit that makes it")
	case in.Staged != "" && (in.URL != "" || in.Text != nil || in.Base64 != nil):
		return g, wrongInput("names a staged file, and has a URL or content")
	case in.Staged != "":
		return a.staged(ctx, in, files.owner)
	case in.URL != "" && (in.Text != nil || in.Base64 != nil):
		return g, wrongInput("has a URL and content")
	case in.Copy && in.URL == "":
		return g, wrongInput("is to be copied, and has no URL")
	case in.Copy:
		return a.copied(ctx, in, files)
	case in.URL != "":
		return workgen.Given{Kind: workgen.Elsewhere, Remote: remoteOf(in), Logical: in.Name}, nil
	case (in.Text == nil) == (in.Base64 == nil):
		return g, wrongInput("has no content, or two")
	case in.Text != nil:
		g.Content = func() io.Reader { return strings.NewReader(*in.Text) }
	default:
		if _, err := base64.StdEncoding.DecodeString(*in.Base64); err != nil {
			return g, wrongInput("is not base64")
		}
		g.Content = func() io.Reader { // decoded when it is stored, so that few are in memory at once
			content, _ := base64.StdEncoding.DecodeString(*in.Base64) // which it is, as seen above
			return bytes.NewReader(content)
		}
	}
	return g, nil
}

func remoteOf(in wire.Input) workgen.Remote {
	return workgen.Remote{URL: in.URL, NBytes: in.NBytes, MD5: in.MD5}
}

// copied is a file that the project fetches, unless it has it already: a batch that is sent again
// continues where the first attempt ended.
func (a *API) copied(ctx context.Context, in wire.Input, files *fetcher) (g workgen.Given, err error) {
	r := remoteOf(in)
	if r.MD5 != "" {
		if len(r.MD5) != 32 || strings.Trim(r.MD5, "0123456789abcdef") != "" {
			return g, &inputError{fmt.Sprintf("has the MD5 %q", in.MD5), "give 32 hex digits, or none"}
		}
		if sum, err := a.Download.Sum(ctx, r.Name()); err == nil && sum.MD5 == r.MD5 {
			return workgen.Given{Kind: workgen.Staged, Path: r.Name(), Logical: in.Name, Counted: true}, nil
		}
	}
	got, err := files.fetch(ctx, r)
	if f, is := errors.AsType[*fetchError](err); is {
		return g, &inputError{fmt.Sprintf("cannot be fetched from %s: %v", in.URL, f), f.cure}
	}
	return workgen.Given{Path: got.path, Logical: in.Name, Counted: true}, err
}
