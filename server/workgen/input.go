package workgen

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
)

// An Input is the parsed form of an input template in BOINC's XML: the use of the files given for a
// workunit, and values that override the given ones.
type Input struct {
	Files []InputFile
	apply []func(*Params)
}

// An InputFile is one <file_info> of an input template with its <file_ref>.
type InputFile struct {
	Physical string // a constant file already in download/ ("": a file given each time)
	Info     protocol.FileInfo
	Ref      protocol.FileRef
	Gzip     bool // computers download a compressed copy, if that is smaller
}

func (f InputFile) kind() Kind {
	switch {
	case f.Info.GeneratedLocally:
		return Generated
	case len(f.Info.DownloadURLs) > 0:
		return Elsewhere
	}
	return Staged
}

// ParseInput reads an input template. As in BOINC, file references belong to the file infos by
// number, or by order if they have no number. Different from BOINC, a tag that has no effect is
// refused.
func ParseInput(name, text string) (*Input, error) {
	in, err := parseInput(text)
	if err == nil {
		err = checkTags(text, inputTags)
	}
	if err != nil {
		return nil, fmt.Errorf("input template %s: %w", name, err)
	}
	return in, nil
}

func parseInput(text string) (*Input, error) {
	var w bxml.Writer
	w.Block("template", text)
	s := bxml.NewScanner(w.Bytes())
	if err := s.Find("template"); err != nil {
		return nil, err
	}
	in := &Input{}
	byNumber := map[int64]int{}
	workunits := 0
	for name := range s.Children() {
		switch name {
		case "input_template":
			s.Enter()
		case "file_info":
			number := int64(len(in.Files))
			f := scanInputFile(s, &number)
			if _, dup := byNumber[number]; dup {
				return nil, fmt.Errorf("two <file_info> have the number %d", number)
			}
			if err := f.check(); err != nil {
				return nil, fmt.Errorf("<file_info> number %d: %w", number, err)
			}
			byNumber[number] = len(in.Files)
			in.Files = append(in.Files, f)
		case "workunit":
			workunits++
			if err := in.scanWorkunit(s, byNumber); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case s.Err() != nil:
		return nil, s.Err()
	case workunits != 1:
		return nil, fmt.Errorf("it has %d <workunit> elements, want 1", workunits)
	}
	return in, nil
}

func scanInputFile(s *bxml.Scanner, number *int64) (f InputFile) {
	s.Fields(func(x bxml.Codec) {
		x.Int("number", number)
		x.Text("physical_name", &f.Physical)
		x.Flag("sticky", &f.Info.Sticky)
		x.Flag("generated_locally", &f.Info.GeneratedLocally)
		x.Flag("generate_locally", &f.Info.GeneratedLocally)
		if s := x.Reading("url"); s != nil {
			f.Info.DownloadURLs = append(f.Info.DownloadURLs, s.Text())
		}
		x.Int("nbytes", &f.Info.NBytes)
		x.Text("md5_cksum", &f.Info.MD5)
		x.Flag("no_delete", &f.Info.NoDelete)
		x.Flag("gzip", &f.Gzip)
	})
	return f
}

// check looks at a file that does not lie here.
func (f InputFile) check() error {
	if f.Gzip && f.kind() != Staged {
		return errors.New("<gzip/> is for files that this server sends: remove it, or <url> and <generated_locally/>")
	}
	if len(f.Info.DownloadURLs) == 0 && f.Info.MD5 == "" && f.Info.NBytes == 0 {
		return nil
	}
	if err := checkRemote(f.Info); err != nil {
		return err
	}
	if f.Info.GeneratedLocally {
		return errors.New("<generated_locally/> and <url> contradict each other")
	}
	return nil
}

func (in *Input) scanWorkunit(s *bxml.Scanner, byNumber map[int64]int) error {
	next := int64(0)
	var bad error
	used := make(map[int]bool)
	s.Fields(func(x bxml.Codec) {
		number := func(name string, set func(*Params, float64)) {
			if s := x.Reading(name); s != nil {
				var v float64
				s.Float(&v)
				in.apply = append(in.apply, func(p *Params) { set(p, v) })
			}
		}
		if s := x.Reading("file_ref"); s != nil {
			n := next
			ref := scanInputRef(s, &n)
			next = n + 1
			i, ok := byNumber[n]
			switch {
			case !ok:
				bad = errors.Join(bad, fmt.Errorf("<file_ref> to file number %d, which has no <file_info> before it", n))
			case used[i]:
				bad = errors.Join(bad, fmt.Errorf("two <file_ref> to file number %d", n))
			default:
				used[i] = true
				in.Files[i].Ref = ref
			}
		}
		if s := x.Reading("command_line"); s != nil {
			line := s.Text()
			in.apply = append(in.apply, func(p *Params) { p.CommandLine = line })
		}
		number("rsc_fpops_est", func(p *Params, v float64) { p.RscFpopsEst = v })
		number("rsc_fpops_bound", func(p *Params, v float64) { p.RscFpopsBound = v })
		number("rsc_memory_bound", func(p *Params, v float64) { p.RscMemoryBound = v })
		number("rsc_disk_bound", func(p *Params, v float64) { p.RscDiskBound = v })
		number("rsc_bandwidth_bound", func(p *Params, v float64) { p.RscBandwidthBound = v })
		number("credit", func(p *Params, v float64) { p.Credit = v })
		number("batch", func(p *Params, v float64) { p.Batch = int64(v) })
		number("delay_bound", func(p *Params, v float64) { p.DelayBound = v })
		number("min_quorum", func(p *Params, v float64) { p.MinQuorum = int(v) })
		number("target_nresults", func(p *Params, v float64) { p.TargetNResults = int(v) })
		number("max_error_results", func(p *Params, v float64) { p.MaxErrorResults = int(v) })
		number("max_total_results", func(p *Params, v float64) { p.MaxTotalResults = int(v) })
		number("max_success_results", func(p *Params, v float64) { p.MaxSuccessResults = int(v) })
		number("priority", func(p *Params, v float64) { p.Priority = int64(v) })
	})
	for i := range in.Files {
		if !used[i] {
			bad = errors.Join(bad, fmt.Errorf("<file_info> number %d has no <file_ref>", i))
		}
	}
	return bad
}

func scanInputRef(s *bxml.Scanner, number *int64) (r protocol.FileRef) {
	s.Fields(func(x bxml.Codec) {
		x.Int("file_number", number)
		x.Text("open_name", &r.OpenName)
		x.Flag("copy_file", &r.CopyFile)
	})
	return r
}

// inOrder returns the given files in the order of those that the template takes: by the names under
// which the application opens them, and the others in the order in which they are given.
func (in *Input) inOrder(given []Given) ([]Given, error) {
	var slots []string // names ("": any)
	for _, f := range in.Files {
		if f.Physical == "" {
			slots = append(slots, f.Ref.OpenName)
		}
	}
	if len(given) != len(slots) {
		return given, nil // which is refused
	}
	out := make([]Given, len(slots))
	taken := make([]bool, len(slots))
	put := func(g Given, name string) bool {
		i := slices.Index(slots, name)
		for i >= 0 && taken[i] {
			next := slices.Index(slots[i+1:], name)
			if next < 0 {
				return false
			}
			i += 1 + next
		}
		if i >= 0 {
			out[i], taken[i] = g, true
		}
		return i >= 0
	}
	var rest []Given
	for _, g := range given {
		switch {
		case g.Logical == "":
			rest = append(rest, g)
		case put(g, g.Logical), put(g, ""):
		case slices.Contains(slots, g.Logical):
			return nil, fmt.Errorf("two input files have the logical name %s", g.Logical)
		default:
			return nil, words.Refuse(words.T("the input template has no file called {name}; its files are called {names}", "name", g.Logical, "names", strings.Join(slots, ", ")))
		}
	}
	for i := range out {
		if !taken[i] && len(rest) > 0 {
			out[i], rest = rest[0], rest[1:]
		}
	}
	return out, nil
}
