package workgen

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/starling-grid/starling/internal/nearest"
	"github.com/starling-grid/starling/protocol/bxml"
)

// tags are the elements that an element of a template may contain, or nil if its content is a
// value.
type tags map[string]tags

func values(names ...string) tags {
	t := make(tags, len(names))
	for _, n := range names {
		t[n] = nil
	}
	return t
}

// with returns t with one more element.
func (t tags) with(name string, content tags) tags {
	t = maps.Clone(t)
	t[name] = content
	return t
}

var (
	inputInner = tags{
		"file_info": values("number", "physical_name", "sticky", "generated_locally", "generate_locally", "url",
			"nbytes", "md5_cksum", "no_delete", "gzip"),
		"workunit": values("command_line", "rsc_fpops_est", "rsc_fpops_bound", "rsc_memory_bound", "rsc_disk_bound",
			"rsc_bandwidth_bound", "batch", "delay_bound", "min_quorum", "target_nresults", "max_error_results",
			"max_total_results", "max_success_results", "priority", "credit").
			with("file_ref", values("file_number", "open_name", "copy_file")),
	}
	inputTags = inputInner.with("input_template", inputInner)

	outputInner = tags{
		// All output files are made locally and uploaded when they are present. BOINC's templates
		// contain this.
		"file_info": values("name", "generated_locally", "upload_when_present", "max_nbytes", "url", "sticky",
			"sticky_lifetime", "gzip_when_done", "no_delete"),
		"result": values("report_immediately").
			with("file_ref", values("file_name", "open_name", "copy_file", "optional", "no_validate")),
	}
	outputTags = outputInner.with("output_template", outputInner)
)

// foreign are BOINC's tags that have no effect here. Accepting them would suggest that they have.
var foreign = values("gzipped_nbytes", "gzipped_url", "size_class", "keywords", "env_vars", "report_on_rpc",
	"app_version_num", "allow_non_preferred_apps")

// checkTags returns an error for each unknown element of a template, with the element that was
// probably meant.
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
		content, ok := here[name]
		switch {
		case !ok:
			*errs = append(*errs, unknownTag(name, within, here, all))
		case content != nil:
			walkTags(s, name, content, all, errs)
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
		if home := homeOf(name, t[k], k); home != "" {
			return home
		}
	}
	return ""
}
