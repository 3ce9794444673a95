package agent

import (
	"errors"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
)

// knowImages finds out whether tasks can run in container images here. It announces them to projects only
// then.
func (a *Agent) knowImages(e *executor.Executor) {
	if primary, _ := hostinfo.Platform(); protocol.ImagePlatform(primary) == "" {
		return
	}
	if err := e.UseImages(); err != nil {
		a.noImages = executor.ImagesError{Why: words.Plain(err.Error())}
		if no, ok := errors.AsType[*executor.ImagesError](err); ok {
			a.noImages = *no
		}
		a.core.Log.Warn("container images cannot be run", "err", err, "cure", a.noImages.Cure)
		return
	}
	a.core.Images = true
}
