package protocol_test

import (
	"testing"

	"github.com/starling-grid/starling/protocol"
)

// A project's wishes for the tasks of an app version are read and written.
func TestWishesOfAnAppVersion(t *testing.T) {
	for text, want := range map[string]protocol.AppVersion{
		"<dont_throttle/>":                 {AppName: "a", VersionNum: 1, DontThrottle: true},
		"<needs_network>1</needs_network>": {AppName: "a", VersionNum: 1, NeedsNetwork: true},
		"<dont_throttle>0</dont_throttle>": {AppName: "a", VersionNum: 1},
	} {
		e, err := protocol.ParseElements([]byte("<app_version><app_name>a</app_name><version_num>1</version_num>" + text + "</app_version>"))
		if err != nil || len(e.AppVersions) != 1 {
			t.Fatalf("%s: %+v, %v", text, e, err)
		}
		reply := protocol.SchedulerReply{Elements: e}
		again, err := protocol.ParseSchedulerReply(reply.Encode())
		if err != nil || len(again.AppVersions) != 1 {
			t.Fatalf("%s: %+v, %v", text, again, err)
		}
		for _, got := range []protocol.AppVersion{e.AppVersions[0], again.AppVersions[0]} {
			if got.DontThrottle != want.DontThrottle || got.NeedsNetwork != want.NeedsNetwork {
				t.Errorf("%s: got %+v", text, got)
			}
		}
	}
}
