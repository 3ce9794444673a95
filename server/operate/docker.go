package operate

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/operate/image"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/workgen"
)

// BOINC's docker_wrapper builds an image from the file Dockerfile in the slot, mounts the slot in a container
// and starts that. Here the Dockerfile has the layers, which are files of the version, and the container runs
// a script, which gives the command of the image its environment and arguments.
//
// Source: BOINC samples/docker_wrapper/docker_wrapper.cpp.
const (
	dockerDir    = "/starling" // the slot in the container
	dockerScript = "starling_run.sh"
)

// dockerPlatforms maps the platforms of docker_wrapper to the platforms of programs in images.
var dockerPlatforms = map[string]string{
	"x86_64-pc-linux-gnu": "x86_64-pc-linux-gnu", "windows_x86_64": "x86_64-pc-linux-gnu", "x86_64-apple-darwin": "x86_64-pc-linux-gnu",
	"aarch64-unknown-linux-gnu": "aarch64-unknown-linux-gnu", "windows_arm64": "aarch64-unknown-linux-gnu", "arm64-apple-darwin": "aarch64-unknown-linux-gnu",
}

// ImagePlatform returns the platform of the programs in images for computers of a platform that run them in
// Docker or Podman.
func ImagePlatform(platform string) string { return cmp.Or(dockerPlatforms[platform], platform) }

// checkDocker returns an error if a version for docker_wrapper is invalid.
func (v *NewVersion) checkDocker() error {
	var errs []error
	if v.Image == nil {
		errs = append(errs, errors.New("docker_wrapper runs images: use --image"))
	}
	if dockerPlatforms[v.Platform] == "" {
		errs = append(errs, fmt.Errorf("docker_wrapper does not run on platform %s", v.Platform))
	}
	if v.Job.File != "" || len(v.Job.Checkpoints) > 0 || v.Job.Progress != "" || v.Job.Pattern != "" {
		errs = append(errs, errors.New("docker_wrapper has no job.xml, checkpoints or progress: leave these out, or publish the version for Starling's agents only"))
	}
	return errors.Join(errs...)
}

// dockerClass returns an error if a plan class does not let BOINC's clients run containers.
func dockerClass(name string, class match.PlanClass) error {
	if class.Docker && strings.Contains(name, "docker") {
		return nil
	}
	return fmt.Errorf("plan class %q: BOINC's clients run containers only for a plan class whose name contains docker. Add [plan_class.docker] with docker = true to server.toml, and use --plan-class docker", name)
}

// addDocker stores the layers of the image and adds the other files, which it writes to dir.
func (v *NewVersion) addDocker(ctx context.Context, p *project.Project, dir string, key signer) ([]protocol.FileInfo, error) {
	shell, err := v.Image.Find("sh")
	if err != nil {
		return nil, fmt.Errorf("%w: with docker_wrapper, a shell starts the program. Add one to the image, or publish the version for Starling's agents only", err)
	}
	for _, e := range v.Image.Description.Env {
		if name, _, ok := strings.Cut(e, "="); ok && !variable.MatchString(name+"=") {
			return nil, fmt.Errorf("image %s sets the environment variable %q: with docker_wrapper, a shell sets the variables, and accepts only letters, digits and _ in names. Remove it from the image, or publish the version for Starling's agents only", v.Image.Name, name)
		}
	}
	layers, names, err := storeForDocker(ctx, p, v.Image, key)
	if err != nil {
		return nil, err
	}
	for name, text := range map[string]string{
		"Dockerfile": dockerfile(shell, names),
		"job.toml":   fmt.Sprintf("workdir = %q\nimage_name = %q\n", dockerDir, "boinc__starling__"+v.Image.Description.ID()[:32]),
		dockerScript: v.script(shell),
	} {
		file := filepath.Join(dir, name)
		if err := atomicfile.Write(file, []byte(text), 0o644); err != nil {
			return nil, err
		}
		v.Files = append(v.Files, workgen.Given{Path: file, Logical: name})
	}
	return layers, nil
}

// storeForDocker is storeLayers for a builder that unpacks one layer after the other and does not remove files.
// If a layer removes files, it stores one layer. names are the files to unpack, in order.
func storeForDocker(ctx context.Context, p *project.Project, m *image.Image, key signer) (layers []protocol.FileInfo, names []string, err error) {
	flat, err := m.Flatten()
	if err != nil {
		return nil, nil, err
	}
	if flat == nil {
		for _, l := range m.Description.Layers {
			names = append(names, l.FileName())
		}
		layers, err = storeLayers(ctx, p, m, key)
		return layers, names, err
	}
	name := "image_flat_" + m.Description.ID() + ".tgz"
	info, err := p.Download.Sum(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		r, w := io.Pipe()
		defer r.Close()
		go func() {
			z := gzip.NewWriter(w)
			err := flat.Write(z)
			if err == nil {
				err = z.Close()
			}
			_ = w.CloseWithError(err)
		}()
		info, err = p.Download.Put(ctx, name, r)
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := signStored(ctx, p, "", name, info, key)
	return []protocol.FileInfo{f}, []string{name}, err
}

// dockerfile returns a Dockerfile that works without a registry.
func dockerfile(shell string, layers []string) string {
	var b strings.Builder
	b.WriteString("FROM scratch\n")
	for _, name := range layers {
		fmt.Fprintf(&b, "ADD %s /\n", name)
	}
	fmt.Fprintf(&b, "WORKDIR %s\nCMD [%q, %q]\n", dockerDir, shell, dockerDir+"/"+dockerScript)
	return b.String()
}

// script returns the script that runs the command in the task's folder, as starling-wrap does.
func (v *NewVersion) script(shell string) string {
	m := v.Image.Description
	var b strings.Builder
	fmt.Fprintf(&b, "#!%s\n# Runs the command of a container image in the folder of a task.\ncd %s || exit 1\n", shell, dockerDir)
	if dir := path.Join("/", m.Dir); dir != "/" && dir != dockerDir {
		fmt.Fprintf(&b, `for f in %[1]s/* %[1]s/.[!.]*; do
	n="${f##*/}"
	if [ -e "$f" ] && [ ! -e "$n" ] && [ ! -L "$n" ]; then ln -s "$f" "$n" 2>/dev/null || cp -R "$f" "$n"; fi
done
`, quoted(dir))
	}
	for _, variable := range append(append([]string{}, m.Env...), v.Job.Env...) {
		if name, value, ok := strings.Cut(variable, "="); ok {
			fmt.Fprintf(&b, "export %s=%s\n", name, quoted(value))
		}
	}
	fmt.Fprintf(&b, "export HOME=%s\nset -f\nexec", dockerDir)
	command := m.Command
	if len(v.Job.command) > 0 {
		command = v.Job.command
	}
	for i, word := range command {
		if i == 0 && strings.Contains(word, "/") && !path.IsAbs(word) {
			word = path.Join("/", m.Dir, word)
		}
		b.WriteString(" " + quoted(word))
	}
	b.WriteString(" $ARGS\n")
	return b.String()
}

// quoted writes a text as one word of a shell's command.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
