package guirpc

import (
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
)

func writeTransfers(w *bxml.Writer, v view.Tools) {
	w.Open("file_transfers")
	for _, t := range v.Transfers {
		w.Open("file_transfer")
		w.Text("project_url", t.Project)
		w.Text("project_name", t.ProjectName)
		w.Text("name", t.Name)
		w.Float("nbytes", float64(t.NBytes))
		w.Float("max_nbytes", float64(t.MaxNBytes))
		w.Int("status", int64(t.Local))
		w.Open("persistent_file_xfer")
		w.Int("num_retries", int64(t.Failures))
		w.Float("first_request_time", protocol.UnixSeconds(t.FirstTry))
		w.Float("next_request_time", protocol.UnixSeconds(t.NextTry))
		w.Float("time_so_far", 0)
		w.Float("last_bytes_xferred", float64(t.Bytes))
		w.Int("is_upload", flag(t.Upload()))
		w.Close("persistent_file_xfer")
		if t.Active {
			speed := float64(t.Bytes) / max(v.Now.Sub(t.Since).Seconds(), 0.1)
			w.Open("file_xfer")
			w.Float("bytes_xferred", float64(t.Bytes))
			w.Float("file_offset", 0)
			w.Float("xfer_speed", speed)
			url := ""
			if urls := append(append([]string(nil), t.UploadURLs...), t.DownloadURLs...); len(urls) > 0 {
				url = urls[0]
			}
			w.Text("url", url)
			w.Close("file_xfer")
		}
		w.Float("project_backoff", 0)
		w.Close("file_transfer")
	}
	w.Close("file_transfers")
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func writeTraffic(w *bxml.Writer, v view.Tools) {
	w.Open("daily_xfers")
	for _, t := range v.Traffic {
		w.Open("dx")
		w.Int("when", int64(t.Day))
		w.Float("up", t.Up)
		w.Float("down", t.Down)
		w.Close("dx")
	}
	w.Close("daily_xfers")
}
