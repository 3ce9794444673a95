package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/unsendable"
	"github.com/starling-grid/starling/server/workgen"
)

// suspecting finds the first result suspicious, and wrong once there is a canonical one.
const suspecting = `#!/bin/sh
case "$(cat)" in
*'"canonical":null'*) echo '{"results": {"wu_0": "suspicious"}}' ;;
*) echo '{"results": {"wu_0": "invalid"}}' ;;
esac
`

// After a suspicious result, only a trusted account gets another, and that one decides.
func TestATrustedAccountDecides(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(os.WriteFile(filepath.Join(w.dir, "suspect.sh"), []byte(suspecting), 0o700))
	w.must(operate.AddApp(t.Context(), w.p, operate.NewApp{Name: "upper", Validator: "exec:sh ./suspect.sh", Assimilator: "copy"}, w.now()))
	w.version("1.00")
	w.create(workgen.Params{Name: "wu"}, "hello")
	ada := &client{w: w, key: w.user("ada@example.org"), name: "a", wrong: "invented"}
	bob := &client{w: w, key: w.user("bob@example.org"), name: "b"}
	eve := &client{w: w, key: w.user("eve@example.org"), name: "e"}
	ada.compute(ada.fetch())
	reply := bob.fetch()
	if len(reply.Results) != 0 || len(reply.Refusals) != 1 || reply.Refusals[0].Code != protocol.RefusedTrusted {
		t.Errorf("an account that is not trusted: %d results, %+v, %+v", len(reply.Results), reply.Refusals, reply.Messages)
	}
	if f := w.untaken(); len(f) != 1 || f[0].Cause != unsendable.Trusted || f[0].Results != 1 || !strings.Contains(f[0].Cure, "starling-server user trust") {
		t.Errorf("nobody is trusted: %+v", f)
	}
	_, err := operate.Trust(t.Context(), w.p, "bob@example.org", true, w.now())
	w.must(err)
	if f := w.untaken(); len(f) != 0 {
		t.Errorf("bob is trusted: %+v", f)
	}
	if reply := eve.fetch(); len(reply.Results) != 0 {
		t.Errorf("another account gets %d results", len(reply.Results))
	}
	bob.compute(bob.fetch())
	w.step()
	text, info := w.outcome("wu")
	if text != "HELLO" || info.Canonical.Result != "wu_1" {
		t.Errorf("outcome %q, %+v", text, info)
	}
	if st := w.status(); !st.Done || st.Results.ByValidateState["valid"] != 1 || st.Results.ByValidateState["invalid"] != 1 {
		t.Errorf("in the end: %+v", st.Results)
	}
}

// If the account is trusted after it has returned a result, that result decides.
func TestAnAccountIsTrustedLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(os.WriteFile(filepath.Join(w.dir, "suspect.sh"), []byte(suspecting), 0o700))
	w.must(operate.AddApp(t.Context(), w.p, operate.NewApp{Name: "upper", Validator: "exec:sh ./suspect.sh", Assimilator: "copy"}, w.now()))
	w.version("1.00")
	w.create(workgen.Params{Name: "wu"}, "hello")
	ada := &client{w: w, key: w.user("ada@example.org"), name: "a"}
	ada.compute(ada.fetch())
	if st := w.status(); st.Done {
		t.Fatalf("a suspicious result is taken: %+v", st)
	}
	_, err := operate.Trust(t.Context(), w.p, "ada@example.org", true, w.now())
	w.must(err)
	w.step()
	if st := w.status(); !st.Done || st.Results.ByValidateState["valid"] != 1 {
		t.Errorf("its account is trusted: %+v", st.Results)
	}
}
