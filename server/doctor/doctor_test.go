package doctor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/doctor"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// A canonical output is missed until the project has taken it, and no longer.
func TestOutcomes(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	st := storetest.Open(t, "")
	files, err := blob.Open(t.TempDir())
	must(err)
	defer files.Close()
	w := storetest.Fill(t, st)
	wu, results := storetest.Add(t, st, w.Workunit("wu"), 1)
	update := func(fn func(tx *store.Tx) error) {
		t.Helper()
		must(st.Update(t.Context(), fn))
	}
	canonical := wu
	update(func(tx *store.Tx) error {
		sent := results[0]
		sent.XMLDocIn = protocol.FileInfo{Name: "wu_1_0", GeneratedLocally: true, MaxNBytes: 9, XMLSignature: "bb\n."}.XML() +
			protocol.Result{Name: "wu_1", FileRefs: []protocol.FileRef{{FileName: "wu_1_0", OpenName: "out"}}}.XML()
		sent.Name, sent.ID = "wu_1", 0
		id, err := storetest.InsertResult(tx, sent)
		if err != nil {
			return err
		}
		canonical.CanonicalResultID = id
		if sent, err = tx.Result(id); err != nil {
			return err
		}
		out := sent
		out.ServerState, out.HostID, out.UserID = store.InProgress, w.Host.ID, w.User.ID
		out.SentTime, out.ReportDeadline = storetest.T0, storetest.T0.Add(time.Hour)
		if err := tx.Send(out); err != nil {
			return err
		}
		valid := out
		valid.ServerState, valid.Outcome, valid.ValidateState = store.Over, store.Success, store.Valid
		if err := tx.SaveResult(out, valid); err != nil {
			return err
		}
		return tx.SaveWorkunit(wu, canonical)
	})
	d := &doctor.Project{Store: st, Download: files, Upload: files}
	expect := func(want ...string) {
		t.Helper()
		wrong, err := d.Examine(t.Context())
		must(err)
		var got []string
		for _, v := range wrong {
			got = append(got, v.Rows...)
		}
		if strings.Join(got, "; ") != strings.Join(want, "; ") {
			t.Errorf("found %q, want %q", got, want)
		}
	}
	expect("wu_1_0 (missing)")
	_, err = files.Put(t.Context(), "wu_1_0", strings.NewReader("out"))
	must(err)
	expect()
	must(files.Remove(t.Context(), "wu_1_0"))
	update(func(tx *store.Tx) error {
		taken := canonical
		taken.AssimilateState = store.AssimilateDone
		return storetest.SaveWorkunit(tx, canonical, taken)
	})
	expect()
}
