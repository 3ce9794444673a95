package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/api"
	"github.com/starling-grid/starling/server/store"
)

// Requests of BOINC's clients for batches, two at once. Each sender has a batch without jobs and one with two.
func TestBOINCRequestsForBatchesAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		s := newBatchSite(t, database)
		template := `<input_template><file_info><number>0</number></file_info><workunit><file_ref><file_number>0</file_number><open_name>in</open_name></file_ref></workunit></input_template>`
		if err := os.WriteFile(filepath.Join(s.Dir, "templates", "upper_in"), []byte(template), 0o600); err != nil {
			t.Fatal(err)
		}
		job := func(text string) string {
			return "<job><input_file><mode>inline</mode><source>" + text + "</source></input_file></job>"
		}
		jobs := func(id, text string) string {
			return "<batch><app_name>upper</app_name><batch_id>" + id + "</batch_id>" + job(text) + job(text+"2") + "</batch>"
		}
		asks := []struct{ name, op, content string }{
			{"create a batch", "create_batch", "<app_name>upper</app_name><batch_name>b</batch_name>"},
			{"create that batch to expire", "create_batch", "<app_name>upper</app_name><batch_name>b</batch_name><expire_time>4e9</expire_time>"},
			{"submit jobs", "submit_batch", jobs("EMPTY", "x")},
			{"submit other jobs", "submit_batch", jobs("EMPTY", "y")},
			{"submit a batch whole", "submit_batch", "<batch><app_name>upper</app_name><batch_name>b</batch_name>" + job("z") + "</batch>"},
			{"abort", "abort_batch", "<batch_id>FULL</batch_id>"},
			{"abort the one without jobs", "abort_batch", "<batch_id>EMPTY</batch_id>"},
			{"retire", "retire_batch", "<batch_id>FULL</batch_id>"},
			{"retire the one without jobs", "retire_batch", "<batch_id>EMPTY</batch_id>"},
			{"let it expire", "set_expire_time", "<batch_id>FULL</batch_id><expire_time>4e9</expire_time>"},
		}
		var names []string
		for _, a := range asks {
			names = append(names, a.name)
		}
		number := regexp.MustCompile(`<batch_id>(\d+)`)
		pairsAtOnce(t, names, 2, 2, func() round {
			c := s.sender(t, 0)
			ids := make(map[string]string)
			for _, name := range []string{"empty", "full"} {
				text := c.boinc("create_batch", "<app_name>upper</app_name><batch_name>"+name+"</batch_name>")
				ids[strings.ToUpper(name)] = number.FindStringSubmatch(text + "<batch_id>0")[1]
			}
			fill := strings.NewReplacer("EMPTY", ids["EMPTY"], "FULL", ids["FULL"])
			c.boinc("submit_batch", fill.Replace(jobs("FULL", "w")))
			return round{send: func(i int) string {
				text := c.boinc(asks[i].op, fill.Replace(asks[i].content))
				for name, id := range ids {
					text = regexp.MustCompile(`(batch |batch_id>)`+id+`\b`).ReplaceAllString(text, "$1"+name)
				}
				return number.ReplaceAllString(text, "<batch_id>NEW")
			}, state: func() string { return c.state() }, right: func(outcome string) bool { // aborted while its jobs were made
				return strings.Contains(outcome, "was cancelled or has expired") && strings.Contains(outcome, "empty: expected 0, unfinished 0, failed 0, made true")
			}}
		})
	})
}

// boinc sends a request of BOINC's clients.
func (c *sender) boinc(op, content string) string {
	c.t.Helper()
	var hash string
	err := c.Store.View(c.t.Context(), func(tx *store.View) error {
		list, err := tx.Tokens()
		for _, token := range list {
			if token.ID == c.id {
				hash = token.Hash
			}
		}
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	key := api.Authenticator(c.UploadKey().Text(), hash)
	form := url.Values{"request": {"<" + op + "><authenticator>" + key + "</authenticator>" + content + "</" + op + ">"}}
	r := httptest.NewRequestWithContext(c.t.Context(), http.MethodPost, master+"submit_rpc_handler.php", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	rec := httptest.NewRecorder()
	c.public.ServeHTTP(rec, r)
	return fmt.Sprint(rec.Code, " ", rec.Body.String())
}
