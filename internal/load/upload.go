package load

import (
	"crypto/md5"
	"encoding/hex"

	"github.com/starling-grid/starling/protocol"
)

// unsent returns the outputs that must be uploaded before their tasks are reported.
func (h *Host) unsent() (list []Upload) {
	if !h.upload {
		return nil
	}
	for _, t := range h.tasks {
		if t.state != protocol.ClientUploading {
			continue
		}
		for _, o := range t.outputs {
			if !o.sent {
				list = append(list, h.body(t.Name, &o))
			}
		}
	}
	return list
}

func (h *Host) body(task string, o *output) Upload {
	data := o.text()
	sum := md5.Sum([]byte(data))
	head := protocol.UploadRequest{
		Client: h.kind.client, Name: o.Name, XMLSignature: o.XMLSignature, MaxNBytes: o.MaxNBytes, NBytes: o.NBytes,
		MD5: hex.EncodeToString(sum[:]),
	}
	return Upload{Task: task, File: o.Name, URL: o.UploadURLs[0], Head: head.Encode(), Data: data}
}

// Sent processes the reply to an upload. If the handler refuses it permanently, the upload is given
// up and its task fails. After any other problem it is tried again.
func (h *Host) Sent(u Upload, reply protocol.UploadReply) {
	for i := range h.tasks {
		t := &h.tasks[i]
		if t.Name != u.Task {
			continue
		}
		for j := range t.outputs {
			o := &t.outputs[j]
			switch {
			case o.Name != u.File:
			case reply.Status == protocol.UploadOK:
				o.sent = true
			case reply.Status == protocol.UploadPermanent:
				o.ErrorMsg = reply.Message
				t.state, t.exit = protocol.ClientUploadFailed, protocol.ExitUploadFailed
			}
		}
	}
}
