package server

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/feeder"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/scheduler"
	"github.com/starling-grid/starling/server/upload"
	"github.com/starling-grid/starling/server/web"
)

// fresh is how long what was read of the work that can be sent is handed out.
const fresh = 100 * time.Millisecond

// Handler returns what answers HTTP requests below the project's URL. reported
// is called when results were taken in.
func (s *Server) Handler(reported func()) (http.Handler, error) {
	if s.Rotating() {
		return nil, errors.New("a rotation of the code signing key was interrupted: run starling-server key rotate to finish it")
	}
	c := s.Config
	least, err := project.CoreVersion(c.MinCoreVersion)
	if err != nil {
		return nil, err
	}
	post, err := s.post()
	if err != nil {
		return nil, err
	}
	var own func(id int64) bool
	if s.part.Shard.Count > 1 {
		own = s.part.Shard.Has
	}
	secret := sha256.Sum256([]byte("web sessions\x00" + s.UploadKey().Text()))
	proxies, err := limit.ParseProxies(c.Proxies())
	if err != nil {
		return nil, err
	}
	readers, err := limit.ParseProxies(c.MetricsAllow)
	if err != nil {
		return nil, err
	}
	site := &web.Site{
		Limits: web.Limits{
			Proxies: proxies, RequestsPerAddress: c.MaxRequestsPerAddress, AccountsPerDay: c.MaxAccountsPerAddressDay,
			Pace:           limit.Pace{Window: window, Bytes: int64(c.MinTransferRate * window.Seconds())},
			WrongPasswords: c.MaxWrongPasswords, Metrics: readers, MetricsToken: c.MetricsToken,
		},
		Secret: secret[:], Mail: post,
		Serves: s.part.has,
		Name:   c.LongName, MasterURL: c.MasterURL, Schedulers: c.Schedulers(), CreationDisabled: c.DisableAccountCreation,
		MinPasswordLength: c.MinPasswdLength, Store: s.Store, Log: s.Log.With("part", "web"), Download: s.Download,
		Scheduler: &scheduler.Scheduler{
			Store: s.Store.Shard(s.part.Shard).Joint(), Log: s.Log.With("part", "scheduler"), Reported: reported, Uploaded: s.Uploaded,
			Feeder: feeder.Feeder{Fresh: fresh, Own: own},
			Bodies: limit.Bodies{Total: int64(c.MaxRequestMB * 1e6), PerAddress: int64(c.MaxRequestMBPerAddress * 1e6)},
			Config: scheduler.Config{
				Name: c.LongName, MasterURL: c.MasterURL,
				DownloadURL: c.MasterURL + "download/", UploadURL: c.MasterURL + "file_upload_handler",
				CodeSignKey: s.CodeSign().Text(), OldKeys: s.OldKeys(),
				MinCoreVersion:      least,
				MinSendworkInterval: protocol.Seconds(c.MinSendworkInterval),
				NextRPCDelay:        protocol.Seconds(c.NextRPCDelay),
				MaxWusToSend:        c.MaxWusToSend, MaxWusInProgress: c.MaxWusInProgress,
				MaxWusInProgressGPU: c.MaxWusInProgressGPU, GPUMultiplier: c.GPUMultiplier,
				DailyResultQuota: c.DailyResultQuota, MaxNCPUs: c.MaxNCPUs, MaxInfeasible: c.MaxInfeasible,
				MaxHostsPerDay:        c.MaxHostsPerUserDay,
				OneResultPerUserPerWU: c.OneResultPerUserPerWU, OneResultPerHostPerWU: c.OneResultPerHostPerWU,
				IdleIgnoreDelayBound: c.IdleIgnoreDelayBound,
				ResendLostResults:    c.ResendLostResults, SendResultAbort: c.SendResultAbort,
				PlanClasses: c.PlanClass, Affinity: c.Affinity(),
				Urgent: match.Urgent{
					OnPriority: c.ReliableOnPriority, MaxAvgTurnaround: protocol.Seconds(c.ReliableMaxAvgTurnaround),
					MaxErrorRate: c.ReliableMaxErrorRate, ReducedDelayBound: c.ReliableReducedDelayBound,
				},
			},
		},
		Upload: &upload.Handler{Files: s.Upload, Key: s.UploadKey().Public(), Log: s.Log.With("part", "upload")},
	}
	return site.Handler()
}
