package workgen_test

import (
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/workgen"
)

const fullInput = `<input_template>
<!-- <nosuchtag> -->
<file_info><number>0</number><sticky/><no_delete/></file_info>
<file_info><number>1</number><physical_name>a</physical_name><url>http://192.0.2.9/a</url><nbytes>5</nbytes><md5_cksum>5d41402abc4b2a76b9719d911017c592</md5_cksum></file_info>
<file_info><number>2</number><generated_locally/></file_info>
<workunit>
<file_ref><file_number>0</file_number><open_name>in</open_name><copy_file/></file_ref>
<file_ref><file_number>1</file_number></file_ref>
<file_ref><file_number>2</file_number></file_ref>
<command_line>-a <nosuchtag/></command_line>
<rsc_fpops_est>1e9</rsc_fpops_est><rsc_fpops_bound>1e10</rsc_fpops_bound><rsc_memory_bound>1</rsc_memory_bound>
<rsc_disk_bound>1</rsc_disk_bound><rsc_bandwidth_bound>1</rsc_bandwidth_bound><batch>1</batch><delay_bound>9</delay_bound>
<min_quorum>1</min_quorum><target_nresults>1</target_nresults><max_error_results>1</max_error_results>
<max_total_results>1</max_total_results><max_success_results>1</max_success_results><priority>1</priority><credit>7</credit>
</workunit>
</input_template>`

func TestUnknownTagsInTemplatesAreRefused(t *testing.T) {
	if _, err := workgen.ParseInput("t", fullInput); err != nil {
		t.Fatal(err)
	}
	must(t, workgen.CheckOutput("t", goodOutput))
	input := func(text string) error { _, err := workgen.ParseInput("t", text); return err }
	output := func(text string) error { return workgen.CheckOutput("t", text) }
	for _, tt := range []struct {
		name     string
		check    func(string) error
		template string
		old, new string
		want     []string
	}{
		{"a misspelt limit", input, fullInput, "min_quorum>", "min_qourum>", []string{"input template t: ", "unknown tag <min_qourum> in <workunit>, did you mean <min_quorum>?"}},
		{"nothing like it", input, fullInput, "<sticky/>", "<nosuchtag/>", []string{"unknown tag <nosuchtag> in <file_info>"}},
		{"a tag of another element", input, fullInput, "<copy_file/>", "<copy_file/><sticky/>", []string{"unknown tag <sticky> in <file_ref>, it belongs in <file_info>"}},
		{"several at once", input, fullInput, "<sticky/><no_delete/>", "<stiky/><nodelete/>", []string{"did you mean <sticky>?", "did you mean <no_delete>?"}},
		{"beside the elements", input, fullInput, "</workunit>", "</workunit><min_quorum>2</min_quorum>", []string{"unknown tag <min_quorum> in <input_template>, it belongs in <workunit>"}},
		{"without the wrapper", input, "<workunit><min_quorrum>1</min_quorrum></workunit>", "", "", []string{"did you mean <min_quorum>?"}},
		{"BOINC's, without an effect here", input, fullInput, "<priority>", "<size_class>1</size_class><priority>", []string{"tag <size_class> in <workunit> is not supported"}},
		{"a word for a number", input, fullInput, "<min_quorum>1", "<min_quorum>x", []string{`<min_quorum> is "x", want a number`}},
		{"a unit", input, fullInput, "<rsc_memory_bound>1", "<rsc_memory_bound>2 GB", []string{`<rsc_memory_bound> is "2 GB", want a number`}},
		{"a word for a flag", input, fullInput, "<sticky/>", "<sticky>yes</sticky>", []string{`<sticky> is "yes", want empty, 0 or 1`}},
		{"no number of bytes", output, goodOutput, "<max_nbytes>5<", "<max_nbytes>5k<", []string{`<max_nbytes> is "5k", want a number`}},
		{"an output file's", output, goodOutput, "<max_nbytes>5</max_nbytes>", "<max_nbytes>5</max_nbytes><stickey/>", []string{"output template t: ", "unknown tag <stickey> in <file_info>, did you mean <sticky>?"}},
		{"of a result", output, goodOutput, "<report_immediately/>", "<report_immediatel/>", []string{"in <result>, did you mean <report_immediately>?"}},
		{"of a result's file", output, goodOutput, "<optional/>", "<optinal/>", []string{"in <file_ref>, did you mean <optional>?"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.check(strings.ReplaceAll(tt.template, tt.old, tt.new))
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
			}
		})
	}
	// Existing work continues with a template that was accepted before.
	if _, err := workgen.ParseOutput("t", strings.ReplaceAll(goodOutput, "<optional/>", "<optinal/>")); err != nil {
		t.Error(err)
	}
}
