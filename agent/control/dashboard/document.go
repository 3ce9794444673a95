package dashboard

import (
	"bytes"
	"encoding/json"
	"maps"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/view"
)

// A document is the page's data, as the JSON object that pages get: its members by name. Tasks,
// projects and transfers, which are lists elsewhere, are objects by key, so that a change to one of
// them does not affect the rest. A document is immutable.
type document struct {
	parts map[string]map[string]json.RawMessage
	tasks map[string]control.Task // what parts["tasks"] was made of
}

// newDocument makes a document of v. Unchanged parts are taken from before.
func newDocument(v view.Page, before document) (d document, err error) {
	d = document{make(map[string]map[string]json.RawMessage), make(map[string]control.Task, len(v.Status.Tasks))}
	tasks := make(map[string]json.RawMessage, len(v.Status.Tasks))
	for _, t := range v.Status.Tasks {
		key := t.Project + " " + t.Name
		b, known := before.parts["tasks"][key]
		if !known || before.tasks[key] != t {
			if b, err = json.Marshal(t); err != nil {
				return d, err
			}
		}
		tasks[key], d.tasks[key] = b, t
	}
	projects := make(map[string]json.RawMessage, len(v.Status.Projects))
	for _, p := range v.Status.Projects {
		if projects[p.MasterURL], err = json.Marshal(p); err != nil {
			return d, err
		}
	}
	transfers := make(map[string]json.RawMessage, len(v.Status.Transfers))
	for _, x := range v.Status.Transfers {
		if transfers[x.Project+" "+x.Name], err = json.Marshal(x); err != nil {
			return d, err
		}
	}
	v.Status.Tasks, v.Status.Projects, v.Status.Transfers = nil, nil, nil
	d.parts["tasks"], d.parts["projects"], d.parts["transfers"] = tasks, projects, transfers
	d.parts["page"], err = members(v)
	return d, err
}

// members returns the members of an object without those that are null, which a merge patch could
// not express.
func members(v any) (all map[string]json.RawMessage, err error) {
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	maps.DeleteFunc(all, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	return all, err
}

// whole returns the document as JSON.
func (d document) whole() ([]byte, error) { return json.Marshal(d.parts) }

// since returns the merge patch (RFC 7396) that turns before into d, or nil if they are the same.
func (d document) since(before document) ([]byte, error) {
	changes := make(map[string]json.RawMessage)
	for name, part := range d.parts {
		patch, err := difference(before.parts[name], part)
		if err != nil {
			return nil, err
		}
		if patch != nil {
			changes[name] = patch
		}
	}
	if len(changes) == 0 {
		return nil, nil
	}
	return json.Marshal(changes)
}

// difference returns the merge patch that turns the object a into the object b, or nil if they are
// the same. Objects are compared member by member, anything else is replaced.
func difference(a, b map[string]json.RawMessage) (json.RawMessage, error) {
	changes := make(map[string]json.RawMessage)
	for name := range a {
		if _, stays := b[name]; !stays {
			changes[name] = json.RawMessage("null")
		}
	}
	for name, now := range b {
		was, known := a[name]
		switch {
		case bytes.Equal(was, now):
			continue
		case !known || !isObject(was) || !isObject(now):
			changes[name] = now
			continue
		}
		var x, y map[string]json.RawMessage
		if err := json.Unmarshal(was, &x); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(now, &y); err != nil {
			return nil, err
		}
		patch, err := difference(x, y)
		if err != nil {
			return nil, err
		}
		if patch != nil {
			changes[name] = patch
		}
	}
	if len(changes) == 0 {
		return nil, nil
	}
	return json.Marshal(changes)
}

func isObject(v json.RawMessage) bool { return len(v) > 0 && v[0] == '{' }
