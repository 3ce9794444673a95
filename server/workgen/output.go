package workgen

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/protocol"
)

// An Output describes the files that a result of a workunit produces. It is the parsed form of an
// output template in BOINC's XML.
type Output struct{ text string }

// Placeholders in an output template.
const (
	outfilePrefix = "<OUTFILE_"
	uploadURL     = "<UPLOAD_URL/>"
	someURL       = "http://upload.invalid/file_upload_handler" // where one will stand
)

// DefaultMaxNBytes is the default maximum size of an output file.
const DefaultMaxNBytes = 10_000_000

// OutputFile is one output file of a template that OutputText writes.
type OutputFile struct {
	Logical   string
	MaxNBytes int64
}

// OutputText writes an output template for the given files.
func OutputText(files []OutputFile) string {
	var b strings.Builder
	b.WriteString("<output_template>\n")
	for i, f := range files {
		fmt.Fprintf(&b, "<file_info>\n    <name><OUTFILE_%d/></name>\n    <generated_locally/>\n    <upload_when_present/>\n"+
			"    <max_nbytes>%d</max_nbytes>\n    <url><UPLOAD_URL/></url>\n</file_info>\n", i, f.MaxNBytes)
	}
	b.WriteString("<result>\n")
	for i, f := range files {
		fmt.Fprintf(&b, "    <file_ref>\n        <file_name><OUTFILE_%d/></file_name>\n        <open_name>%s</open_name>\n    </file_ref>\n",
			i, f.Logical)
	}
	b.WriteString("</result>\n</output_template>\n")
	return b.String()
}

// CheckOutput returns an error if an output template is invalid. It refuses tags that have no
// effect, too. name is the file's name, for messages.
func CheckOutput(name, text string) error {
	if err := checkTags(text, outputTags); err != nil {
		return fmt.Errorf("output template %s: %w", name, err)
	}
	_, err := ParseOutput(name, text)
	return err
}

// ParseOutput reads an output template. It returns an error if no results can be made with it.
// Unknown tags are skipped: existing workunits must not stop because of them. name is the file's
// name, for messages.
func ParseOutput(name, text string) (*Output, error) {
	o := &Output{text}
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("output template %s: %w", name, err)
	}
	return o, nil
}

func (o *Output) check() error {
	e, err := o.elements("OUTFILE")
	if err != nil {
		return err
	}
	r := e.Results[0]
	refs := make(map[string]bool)
	logical := make(map[string]bool)
	for _, ref := range r.FileRefs {
		if refs[ref.FileName] {
			return fmt.Errorf("<result> refers twice to file %s", ref.FileName)
		}
		refs[ref.FileName] = true
		if err := protocol.ValidFileName(ref.Logical()); err != nil {
			return fmt.Errorf("open_name: %w", err)
		}
		if logical[ref.Logical()] {
			return fmt.Errorf("two files have the open_name %s", ref.Logical())
		}
		logical[ref.Logical()] = true
	}
	infos := make(map[string]bool)
	for _, f := range e.Files {
		switch {
		case !strings.HasPrefix(f.Name, "OUTFILE_"):
			return fmt.Errorf("the <name> of a <file_info> is %q, want <OUTFILE_0/>, <OUTFILE_1/>, …", f.Name)
		case infos[f.Name]:
			return fmt.Errorf("two <file_info> have the name %s", f.Name)
		case f.MaxNBytes <= 0:
			return fmt.Errorf("file %s has no <max_nbytes>: clients would read it as 0 and fail every result", f.Name)
		case !refs[f.Name]:
			return fmt.Errorf("file %s has a <file_info>, but no <file_ref> in <result>", f.Name)
		}
		infos[f.Name] = true
	}
	for _, ref := range r.FileRefs {
		if !infos[ref.FileName] {
			return fmt.Errorf("<result> refers to file %s, which has no <file_info>", ref.FileName)
		}
	}
	return nil
}

// elements expands the placeholders, giving files names that begin with prefix.
func (o *Output) elements(prefix string) (protocol.Elements, error) {
	text := strings.ReplaceAll(o.text, uploadURL, someURL)
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(text, outfilePrefix)
		b.WriteString(before)
		if !ok {
			break
		}
		number, rest, ok := strings.Cut(after, "/>")
		n, err := strconv.ParseUint(number, 10, 16)
		if !ok || err != nil {
			return protocol.Elements{}, errors.New("<OUTFILE_ is not followed by a number and />")
		}
		b.WriteString(prefix + "_" + strconv.FormatUint(n, 10))
		text = rest
	}
	inner := b.String()
	if _, in, ok := strings.Cut(inner, "<output_template>"); ok {
		inner, _, ok = strings.Cut(in, "</output_template>")
		if !ok {
			return protocol.Elements{}, errors.New("<output_template> is not closed")
		}
	}
	e, err := protocol.ParseElements([]byte(inner))
	if err != nil {
		return e, err
	}
	if len(e.Results) != 1 {
		return e, fmt.Errorf("it has %d <result> elements, want 1", len(e.Results))
	}
	return e, nil
}

// reserved is the name of the description of an outcome, which the assimilator copy puts into the folder of the output files.
const reserved = "result.json"

// CheckNames returns an error if the assimilator of an application could not take the output files of a template.
func CheckNames(name, text, assimilator string) error {
	_, outputs, err := uploads(text)
	if err != nil || assimilator != "copy" {
		return err
	}
	for _, o := range outputs {
		if strings.EqualFold(o, reserved) {
			return fmt.Errorf("output template %s: the open_name %s is taken by the description of each outcome in results/: use another one", name, o)
		}
	}
	return nil
}

// uploads returns the maximum size in bytes of the files that a result uploads, and their names.
func uploads(text string) (n int64, names []string, err error) {
	e, err := (&Output{text}).elements("OUTFILE")
	sent := make(map[string]bool)
	for _, f := range e.Files {
		if !stays(f) {
			n += f.MaxNBytes
			sent[f.Name] = true
		}
	}
	if err != nil {
		return 0, nil, err
	}
	for _, ref := range e.Results[0].FileRefs {
		if sent[ref.FileName] {
			names = append(names, ref.Logical())
		}
	}
	return n, names, nil
}

// stays reports whether an output file stays on the host and is not uploaded: it is sticky, and its
// template has no <url>.
func stays(f protocol.FileInfo) bool { return f.Sticky && len(f.UploadURLs) == 0 }

// Expand returns the xml_doc_in of a new result. File names are made from its name and an
// unguessable random number. certify returns a certificate for the upload of each file. The upload
// URL is filled in when the result is sent, so that a project may move.
func (o *Output) Expand(result, workunit string, random int64, certify func(name string, maxNBytes int64) string) (string, error) {
	e, err := o.elements(result + "_r" + strconv.FormatInt(random, 10))
	if err != nil {
		return "", fmt.Errorf("result %s: %w", result, err)
	}
	var b strings.Builder
	for _, f := range e.Files {
		if err := protocol.ValidFileName(f.Name); err != nil {
			return "", fmt.Errorf("result %s: %w", result, err)
		}
		f.GeneratedLocally = true
		if !stays(f) {
			f.UploadURLs = nil
			f.XMLSignature = certify(f.Name, f.MaxNBytes)
		}
		b.WriteString(f.XML())
	}
	r := e.Results[0]
	r.Name, r.WorkunitName = result, workunit
	b.WriteString(r.XML())
	return b.String(), nil
}
