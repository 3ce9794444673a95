package workgen_test

import (
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/workgen"
)

// A template is accepted or refused. One that is accepted makes descriptions that can be read.
func FuzzOutputTemplate(f *testing.F) {
	f.Add(workgen.OutputText([]workgen.OutputFile{{Logical: "out", MaxNBytes: 99}, {Logical: "log", MaxNBytes: 1}}))
	f.Add(`<file_info><name><OUTFILE_0/></name><sticky/></file_info><result><file_ref><file_name><OUTFILE_0/></file_name><open_name>o</open_name><no_validate/></file_ref></result>`)
	f.Fuzz(func(t *testing.T, text string) {
		o, err := workgen.ParseOutput("fuzz", text)
		if err != nil {
			return
		}
		doc, err := o.Expand("wu_0", "wu", 7, certify)
		if err != nil {
			return
		}
		e, err := protocol.ParseElements([]byte(doc))
		if err != nil || len(e.Results) != 1 {
			t.Errorf("%d results, %v: %s", len(e.Results), err, doc)
		}
		for _, file := range e.Files {
			if err := protocol.ValidFileName(file.Name); err != nil {
				t.Errorf("%v in %s", err, doc)
			}
		}
	})
}

func FuzzInputTemplate(f *testing.F) {
	f.Add(`<file_info><number>0</number></file_info><workunit><file_ref><file_number>0</file_number><open_name>in</open_name></file_ref><min_quorum>2</min_quorum><command_line>-a "b c"</command_line></workunit>`)
	f.Fuzz(func(t *testing.T, text string) {
		in, err := workgen.ParseInput("fuzz", text)
		if err != nil {
			return
		}
		for _, file := range in.Files {
			if file.Physical != "" && protocol.ValidFileName(file.Physical) != nil {
				t.Errorf("a file named %q", file.Physical)
			}
		}
	})
}

// The command line of a workunit reaches the host as it was given, or is refused.
func FuzzCommandLine(f *testing.F) {
	f.Add(`--in a.txt "b c" '<d>' & ]]> </command_line>`)
	f.Fuzz(func(t *testing.T, line string) {
		p, err := workgen.Params{Name: "wu", CommandLine: line}.Complete()
		if err != nil {
			return
		}
		e, err := protocol.ParseElements([]byte(protocol.Workunit{Name: "wu", CommandLine: p.CommandLine}.XML()))
		if err != nil || len(e.Workunits) != 1 || e.Workunits[0].CommandLine != strings.TrimSpace(p.CommandLine) { // clients trim it
			t.Errorf("%q became %+v, %v", p.CommandLine, e.Workunits, err)
		}
	})
}
