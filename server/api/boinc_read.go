package api

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"
)

// read finds the requested operation and its sender. The authenticator precedes everything that may
// be large.
func (c *boincCall) read(in io.ByteReader, ops map[string]boincOp) (boincOp, error) {
	op, err := c.understand(newMarkup(in), ops)
	_, ours := errors.AsType[*fault](err)
	_, large := errors.AsType[*http.MaxBytesError](err)
	if err != nil && !ours && !large && c.refused == nil {
		c.in.Op = ""
		err = faultf(http.StatusBadRequest, "write < as &lt; and & as &amp; in texts", "the request is not understood: %v", err)
	}
	return op, err
}

func (c *boincCall) understand(dec *xml.Decoder, ops map[string]boincOp) (op boincOp, err error) {
	root, err := start(dec)
	if err != nil {
		return nil, err
	}
	op, known := ops[root.Name.Local]
	if !known {
		return nil, faultf(http.StatusBadRequest, "docs/api.md of Starling lists what there is", "there is no such request here")
	}
	c.in.Op = root.Name.Local
	admitted := c.in.Op == "ping"
	single := map[string]any{
		"app_name": &c.in.AppName, "batch_id": &c.in.BatchID, "expire_time": &c.in.ExpireTime, "get_cpu_time": &c.in.CPUTime,
		"get_job_details": &c.in.JobDetails, "job_id": &c.in.JobID,
	}
	lists := map[string]*[]string{"batch_name": &c.in.BatchNames, "job_name": &c.in.JobNames, "phys_name": &c.in.Files}
	err = children(dec, func(e xml.StartElement) error {
		if e.Name.Local == "authenticator" && !admitted {
			if err := dec.DecodeElement(&c.in.Authenticator, &e); err != nil {
				return err
			}
			admitted = true
			return c.admit()
		}
		if v, ok := single[e.Name.Local]; ok {
			return dec.DecodeElement(v, &e)
		}
		if list, ok := lists[e.Name.Local]; ok {
			if len(*list) == maxWorkunits {
				return faultf(http.StatusUnprocessableEntity, "send several requests", "the request has more than %d names", maxWorkunits)
			}
			var name string
			err := dec.DecodeElement(&name, &e)
			*list = append(*list, name)
			return err
		}
		if e.Name.Local != "batch" {
			return dec.Skip()
		}
		if !admitted {
			return errNoKey
		}
		return c.in.Batch.read(dec)
	})
	if err == nil && !admitted {
		err = c.admit() // which has the error
	}
	return op, err
}

// read reads the content of an element.
func (b *boincBatch) read(dec *xml.Decoder) error {
	single := map[string]any{
		"app_name": &b.AppName, "batch_id": &b.BatchID, "batch_name": &b.BatchName, "priority": &b.Priority, "allocation_priority": &b.Allocation,
		"app_version_num": &b.AppVersion, "input_template_filename": &b.InputTemplate, "output_template_filename": &b.OutputTemplate, "job_params": &b.Params,
	}
	inputs := 0
	return children(dec, func(e xml.StartElement) error {
		if v, ok := single[e.Name.Local]; ok {
			return dec.DecodeElement(v, &e)
		}
		if e.Name.Local != "job" {
			return dec.Skip()
		}
		if len(b.Jobs) == maxWorkunits {
			return faultf(http.StatusUnprocessableEntity, "send it in several batches", "the batch has more than %d jobs", maxWorkunits)
		}
		var j boincJob
		err := j.read(dec, &inputs)
		b.Jobs = append(b.Jobs, j)
		return err
	})
}

// read reads the content of an element, and counts its input files.
func (j *boincJob) read(dec *xml.Decoder, inputs *int) error {
	single := map[string]any{
		"name": &j.Name, "command_line": &j.CommandLine, "rsc_fpops_est": &j.FpopsEst, "priority": &j.Priority, "input_template": &j.InputTemplate,
		"output_template": &j.OutputTemplate, "target_team": &j.TargetTeam, "target_user": &j.TargetUser, "target_host": &j.TargetHost,
	}
	return children(dec, func(e xml.StartElement) error {
		if v, ok := single[e.Name.Local]; ok {
			return dec.DecodeElement(v, &e)
		}
		if e.Name.Local != "input_file" {
			return dec.Skip()
		}
		if *inputs++; *inputs > maxInputs {
			return tooManyInputs()
		}
		var f boincFile
		err := dec.DecodeElement(&f, &e)
		j.Files = append(j.Files, f)
		return err
	})
}

// start reads as far as the next start tag.
func start(dec *xml.Decoder) (xml.StartElement, error) {
	for {
		t, err := dec.Token()
		if err != nil {
			return xml.StartElement{}, err
		}
		if e, ok := t.(xml.StartElement); ok {
			return e, nil
		}
	}
}

// children calls element for each of the elements in the present one, which it reads to its end.
func children(dec *xml.Decoder, element func(e xml.StartElement) error) error {
	for {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if err := element(t.Copy()); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}
