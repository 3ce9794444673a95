package operate

import (
	"context"

	"github.com/starling-grid/starling/server/doctor"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

// CheckMail sees whether the project's mail server takes its log-in. Nothing is sent.
func CheckMail(ctx context.Context, p *project.Project) (wrong []store.Violation) {
	post, err := p.Post()
	if err == nil && post != nil {
		err = post.Check(ctx)
	}
	if err != nil {
		wrong = append(wrong, store.Violation{
			Rule: "mail can be sent to volunteers", Count: 1, Rows: []string{err.Error()},
			Mend: "correct mail in server.toml, or set it to \"\" to send none; forgotten passwords can then be replaced by the operator only (user passwd)",
		})
	}
	return wrong
}

// Doctor returns what examines the project.
func Doctor(p *project.Project) *doctor.Project {
	return &doctor.Project{Store: p.Store, Download: p.Download, Upload: p.Upload, CodeSign: p.CodeSign()}
}
