package server_test

import (
	"net/http"
	"testing"

	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/pass"
	"github.com/starling-grid/starling/server/workgen"
)

// Work that was created before the server started is available when the first request is answered.
func TestTheFirstRequestFindsWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	g, err := operate.Generator(t.Context(), w.p, "upper", w.now())
	w.must(err)
	_, err = g.Create(t.Context(), make([]workgen.Spec, pass.Batch), w.now()) // making results of them takes longer than a request
	w.must(err)
	l := listen(t)
	defer served(t, server.New(w.p, server.Part{}), l)()
	res, err := http.Get("http://" + l.Addr().String() + "/demo/get_project_config.php") //nolint:noctx // on loopback
	w.must(err)
	_ = res.Body.Close()
	if n := w.status().Results.Total; n == 0 {
		t.Error("the first request was answered before there were results")
	}
}
