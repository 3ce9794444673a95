package workgen

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/starling-grid/starling/internal/nearest"
	"github.com/starling-grid/starling/protocol/bxml"
)

// tags are the elements that an element of a template may contain.
type tags map[string]content

// content is the content of an element: other elements, or a value.
type content struct {
	inner tags
	// wants describes the values, and valid reports whether text is one of them, if not all texts are.
	wants string
	valid func(text string) bool
}

// of returns t with elements of a content.
func (t tags) of(c content, names ...string) tags {
	all := maps.Clone(t)
	for _, n := range names {
		all[n] = c
	}
	return all
}

func (t tags) texts(names ...string) tags { return t.of(content{}, names...) }

func (t tags) numbers(names ...string) tags {
	return t.of(content{wants: "a number", valid: isNumber}, names...)
}

func (t tags) flags(names ...string) tags {
	return t.of(content{wants: "empty, 0 or 1", valid: func(text string) bool { return text == "" || isNumber(text) }}, names...)
}

func isNumber(text string) bool {
	v, err := strconv.ParseFloat(text, 64)
	return err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

var (
	inputInner = tags{
		"file_info": {inner: tags{}.texts("physical_name", "url", "md5_cksum").numbers("number", "nbytes").
			flags("sticky", "generated_locally", "generate_locally", "no_delete", "gzip")},
		"workunit": {inner: tags{
			"file_ref": {inner: tags{}.texts("open_name").numbers("file_number").flags("copy_file")},
		}.texts("command_line").numbers("rsc_fpops_est", "rsc_fpops_bound", "rsc_memory_bound", "rsc_disk_bound",
			"rsc_bandwidth_bound", "batch", "delay_bound", "min_quorum", "target_nresults", "max_error_results",
			"max_total_results", "max_success_results", "priority", "credit")},
	}
	inputTags = inputInner.of(content{inner: inputInner}, "input_template")

	outputInner = tags{
		// All output files are made locally and uploaded when they are present. BOINC's templates
		// contain this.
		"file_info": {inner: tags{}.texts("name", "url").numbers("max_nbytes", "sticky_lifetime").
			flags("generated_locally", "upload_when_present", "sticky", "gzip_when_done", "no_delete")},
		"result": {inner: tags{
			"file_ref": {inner: tags{}.texts("file_name", "open_name").flags("copy_file", "optional", "no_validate")},
		}.flags("report_immediately")},
	}
	outputTags = outputInner.of(content{inner: outputInner}, "output_template")
)

// foreign are BOINC's tags that have no effect here. Accepting them would suggest that they have.
var foreign = tags{}.texts("gzipped_nbytes", "gzipped_url", "size_class", "keywords", "env_vars", "report_on_rpc",
	"app_version_num", "allow_non_preferred_apps")

// checkTags returns an error for each unknown element of a template, with the element that was
// probably meant, and for each value that would be ignored.
func checkTags(text string, known tags) error {
	var w bxml.Writer
	w.Block("template", text)
	s := bxml.NewScanner(w.Bytes())
	if err := s.Find("template"); err != nil {
		return err
	}
	var errs []error
	walkTags(s, "", known, known, &errs)
	return errors.Join(append(errs, s.Err())...)
}

func walkTags(s *bxml.Scanner, within string, here, all tags, errs *[]error) {
	for name := range s.Children() {
		c, ok := here[name]
		switch {
		case !ok:
			*errs = append(*errs, unknownTag(name, within, here, all))
		case c.inner != nil:
			walkTags(s, name, c.inner, all, errs)
		case c.valid != nil:
			if text := s.Text(); !c.valid(text) {
				*errs = append(*errs, fmt.Errorf("<%s> is %q, want %s", name, text, c.wants))
			}
		}
	}
}

func unknownTag(name, within string, here, all tags) error {
	place := ""
	if within != "" {
		place = fmt.Sprintf(" in <%s>", within)
	}
	if _, ok := foreign[name]; ok {
		return fmt.Errorf("tag <%s>%s is not supported", name, place)
	}
	hint := ""
	if best := nearest.Word(name, slices.Collect(maps.Keys(here))); best != "" {
		hint = fmt.Sprintf(", did you mean <%s>?", best)
	}
	if home := homeOf(name, all, ""); home != "" {
		hint = fmt.Sprintf(", it belongs in <%s>", home)
	}
	return fmt.Errorf("unknown tag <%s>%s%s", name, place, hint)
}

// homeOf returns an element that may hold name, or "".
func homeOf(name string, t tags, within string) string {
	if _, ok := t[name]; ok {
		return within
	}
	for _, k := range slices.Sorted(maps.Keys(t)) {
		if home := homeOf(name, t[k].inner, k); home != "" {
			return home
		}
	}
	return ""
}
