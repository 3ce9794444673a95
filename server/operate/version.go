package operate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/nearest"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/operate/image"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/scheduler"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// A NewVersion has the settings for AddVersion.
type NewVersion struct {
	App       string
	Platform  string // BOINC's name, for example x86_64-pc-linux-gnu
	Number    string // "1.00"
	PlanClass string
	Main      string          // path of the program
	Image     *image.Image    // the image with the program, instead of Main. It is Plain, and Platform is the program's.
	Python    []byte          // a program that the image's python3 runs, instead of the image's command (nil: none)
	Files     []workgen.Given // further files
	Plain     bool            // the program does not use BOINC's API
	Wrapper   string          // path of our wrapper for that platform, if Plain
	// DockerWrapper is the path of BOINC's docker_wrapper for the platform. If it is set, the image is for
	// clients that run it in Docker or Podman, and Wrapper is not used.
	DockerWrapper string
	Job           PlainJob // description for the wrapper, if Plain
	MinCore       string   // the oldest client that runs it, as "7.4" ("": any)
	MaxCore       string   // the newest ("": any)
	Cmdline       string   // goes before each workunit's command line

	minCore, maxCore int      // 100·major + minor
	program          string   // logical name under which the wrapper runs the main program
	programs         []string // logical names of all programs that a job.xml runs
}

// programName is under which name our wrapper finds the program that it wraps.
const programName = "starling_program"

var (
	platformName = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,64}$`)
	versionNum   = regexp.MustCompile(`^([0-9]{1,4})\.([0-9]{1,2})$`)
)

// platforms are the most frequent platforms of BOINC's clients, with descriptions.
var platforms = map[string]string{
	"x86_64-pc-linux-gnu":         "Linux running on an AMD x86_64 or Intel EM64T CPU",
	"i686-pc-linux-gnu":           "Linux running on an Intel x86-compatible CPU",
	"aarch64-unknown-linux-gnu":   "Linux running on an aarch64 CPU",
	"arm-unknown-linux-gnueabihf": "Linux running on an ARM CPU with hardware floating point",
	"riscv64-unknown-linux-gnu":   "Linux running on a RISC-V 64-bit CPU",
	"windows_x86_64":              "Microsoft Windows running on an AMD x86_64 or Intel EM64T CPU",
	"windows_intelx86":            "Microsoft Windows running on an Intel x86-compatible CPU",
	"windows_arm64":               "Microsoft Windows running on an ARM 64-bit CPU",
	"x86_64-apple-darwin":         "Mac OS on an Intel 64-bit CPU",
	"arm64-apple-darwin":          "Mac OS on an ARM 64-bit CPU",
	"i686-apple-darwin":           "Mac OS on an Intel 32-bit CPU",
	"arm-android-linux-gnu":       "Android running on an ARM CPU",
	"aarch64-android-linux-gnu":   "Android running on an aarch64 CPU",
	"x86_64-linux-image":          "container images for Linux running on an AMD x86_64 or Intel EM64T CPU",
	"aarch64-linux-image":         "container images for Linux running on an aarch64 CPU",
	"x86_64-pc-freebsd__FreeBSD":  "FreeBSD running on an AMD x86_64 or Intel EM64T CPU",
}

// UsualPlatform returns whether clients are known to have the platform, and if not, the one that was
// probably meant, or "".
func UsualPlatform(name string) (usual bool, meant string) {
	if platforms[name] != "" {
		return true, ""
	}
	var names []string
	for p := range platforms {
		if protocol.IsImagePlatform(p) == protocol.IsImagePlatform(name) {
			names = append(names, p)
		}
	}
	return false, nearest.Word(name, names)
}

// AddVersion signs the files of an app version, unless they were signed elsewhere, puts them
// where clients fetch them, and makes the version known. Schedulers send it from then on. It returns
// project.ErrRotating while the key is being rotated.
func AddVersion(ctx context.Context, p *project.Project, v NewVersion, now time.Time) (err error) {
	number, err := v.check()
	if err != nil {
		return err
	}
	done, err := p.Serving() // keeps the key from being rotated
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := p.ReadKeys(); err != nil { // they may have been rotated since the project was opened
		return err
	}
	if v.Image != nil && v.DockerWrapper == "" {
		v.Platform = protocol.ImagePlatform(v.Platform)
	}
	class, ok := p.Config.PlanClasses[v.PlanClass]
	if !ok && v.PlanClass != "" {
		return fmt.Errorf("plan class %s: server.toml does not define it; add [plan_class.%s]", v.PlanClass, v.PlanClass)
	}
	if len(class.Unsupported) > 0 {
		return fmt.Errorf("plan class %s: its keys %s are not supported, so no computer could get the version", v.PlanClass, strings.Join(class.Unsupported, ", "))
	}
	if v.DockerWrapper != "" {
		if err := dockerClass(v.PlanClass, class); err != nil {
			return err
		}
		v.Main = v.DockerWrapper
	}
	var app store.App
	taken := fmt.Errorf("%s %s for %s already exists. Clients never replace a version: give the new one a higher number",
		v.App, v.Number, v.Platform)
	err = p.Store.View(ctx, func(tx *store.View) (err error) {
		if app, err = tx.AppByName(v.App); err != nil {
			return err
		}
		versions, err := tx.AllAppVersions() // also withdrawn ones: hosts may have their files
		for _, old := range versions {
			if old.AppID == app.ID && old.VersionNum == number && old.Platform.Name == v.Platform && old.PlanClass == v.PlanClass {
				return taken
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	key, err := newSigner(p)
	if err != nil {
		return err
	}
	if v.Image != nil && key.private == nil {
		return errors.New("the layers of an image must be signed like all files, but the project's private key is not in keys/: publish the image where it is")
	}
	dir, err := os.MkdirTemp("", "starling-version")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if v.Python != nil {
		if err := v.addPython(dir); err != nil {
			return err
		}
	}
	if v.Job.described() && v.DockerWrapper == "" {
		if key.private == nil {
			return errors.New("checkpoints, progress and environment are in a job.xml, which must be signed like all files: write it, sign it where the private key is, and use --job")
		}
		if err := v.Job.write(dir); err != nil {
			return err
		}
	}
	if err := v.readJob(); err != nil {
		return err
	}
	if err := v.readable(); err != nil {
		return err
	}
	if err := key.check(v.paths()); err != nil {
		return err
	}
	var layers []protocol.FileInfo
	switch {
	case v.DockerWrapper != "":
		if layers, err = v.addDocker(ctx, p, dir, key); err != nil {
			return err
		}
	case v.Image != nil:
		if layers, err = storeLayers(ctx, p, v.Image, key); err != nil {
			return err
		}
		description, err := writeDescription(v.Image.Description, dir)
		if err != nil {
			return err
		}
		v.Files = append(v.Files, workgen.Given{Path: description})
	}
	doc, err := describeVersion(ctx, p, v, number, layers, key)
	if err != nil {
		return err
	}
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		friendly := platforms[v.Platform]
		if friendly == "" {
			friendly = v.Platform
		}
		platform, err := tx.EnsurePlatform(store.Platform{Name: v.Platform, UserFriendlyName: friendly}, now)
		if err != nil {
			return err
		}
		_, err = tx.InsertAppVersion(store.AppVersion{
			CreateTime: now, AppID: app.ID, VersionNum: number, Platform: platform, PlanClass: v.PlanClass,
			XMLDoc: doc, Plain: v.Plain, MinCoreVersion: v.minCore, MaxCoreVersion: v.maxCore,
		})
		if errors.Is(err, store.ErrExists) {
			return taken
		}
		return err
	})
}

// apiVersion is sent to clients as the version of an application's BOINC library. From version 6.0
// on applications share memory with the client through a file in the slot, as all libraries of the
// last fifteen years and package boincapi do. Without this version BOINC's client offers only
// System V memory, and then it exchanges no messages with the application.
//
// Source: BOINC client/app_start.cpp.
const apiVersion = "7.20.0"

// check returns the version's number, 100·major + minor.
func (v *NewVersion) check() (int, error) {
	var errs []error
	for _, c := range []struct {
		text string
		into *int
	}{{v.MinCore, &v.minCore}, {v.MaxCore, &v.maxCore}} {
		core, err := scheduler.CoreVersion(c.text)
		if err == nil && core.Release != 0 {
			err = fmt.Errorf("%q: want MAJOR.MINOR", c.text)
		}
		errs = append(errs, err)
		*c.into = 100*core.Major + core.Minor
	}
	if v.maxCore > 0 && v.maxCore < v.minCore {
		errs = append(errs, fmt.Errorf("no client is between versions %s and %s", v.MinCore, v.MaxCore))
	}
	if !platformName.MatchString(v.Platform) || v.Platform == "anonymous" {
		errs = append(errs, fmt.Errorf("platform %q: want a name such as x86_64-pc-linux-gnu or windows_x86_64", v.Platform))
	}
	if !project.ValidPlanClass(v.PlanClass) {
		errs = append(errs, fmt.Errorf("plan class %q: want letters, digits, '_', '-' and '.'", v.PlanClass))
	}
	number, err := parseNumber(v.Number)
	errs = append(errs, err)
	if v.DockerWrapper != "" {
		errs = append(errs, v.checkDocker())
	} else if v.Plain && v.Wrapper == "" {
		errs = append(errs, errors.New("a plain program needs the wrapper"))
	}
	switch {
	case (v.Main == "") == (v.Image == nil):
		errs = append(errs, errors.New("a version has either a main program or an image"))
	case v.Image != nil && !v.Plain:
		errs = append(errs, errors.New("the program of an image needs the wrapper"))
	case v.Image != nil && v.DockerWrapper == "" && protocol.ImagePlatform(v.Platform) == "":
		errs = append(errs, fmt.Errorf("there are no images for platform %s", v.Platform))
	}
	if v.Python != nil && v.Image == nil {
		errs = append(errs, errors.New("only the Python of a container image runs functions this way; for the Python of the computers, publish the program that python3 -m starling_grid prints"))
	}
	if v.Python != nil && v.Job.File != "" {
		errs = append(errs, errors.New("a version that runs Python functions needs no job.xml"))
	}
	errs = append(errs, v.Job.check(v.Plain))
	return number, errors.Join(errs...)
}

// parseNumber reads "1.02" as 102.
func parseNumber(text string) (int, error) {
	if m := versionNum.FindStringSubmatch(text); m != nil {
		major, _ := strconv.Atoi(m[1])
		minor, _ := strconv.Atoi((m[2] + "0")[:2]) // 1.5 is 1.50
		if number := 100*major + minor; number > 0 {
			return number, nil
		}
	}
	return 0, fmt.Errorf("version %q: want major and minor number such as 1.00", text)
}

// describeVersion puts the files into place and returns the version's xml_doc.
func describeVersion(ctx context.Context, p *project.Project, v NewVersion, number int, layers []protocol.FileInfo, key signer) (string, error) {
	stem := fmt.Sprintf("%s_%d.%02d_%s", v.App, number/100, number%100, v.Platform)
	if v.PlanClass != "" {
		stem += "__" + v.PlanClass
	}
	wire := protocol.AppVersion{
		AppName: v.App, VersionNum: number, Platform: v.Platform, PlanClass: v.PlanClass, Cmdline: v.Cmdline, AvgNCPUs: 1,
		APIVersion: apiVersion,
	}
	var doc strings.Builder
	logical := make(map[string]bool)
	add := func(path, physical string, executable bool, ref protocol.FileRef) error {
		f, err := signFile(ctx, p, path, physical, key)
		if err != nil {
			return err
		}
		f.Executable = executable
		ref.FileName = physical
		if logical[ref.Logical()] {
			return fmt.Errorf("two files have the logical name %s", ref.Logical())
		}
		logical[ref.Logical()] = true
		wire.FileRefs = append(wire.FileRefs, ref)
		doc.WriteString(f.XML())
		return nil
	}
	main := protocol.FileRef{MainProgram: true}
	if v.Job.File != "" {
		name, _, err := workgen.PhysicalName(v.Job.File)
		if err != nil {
			return "", err
		}
		if err := add(v.Job.File, name, false, protocol.FileRef{OpenName: jobName}); err != nil {
			return "", err
		}
	}
	if v.Plain && v.DockerWrapper == "" {
		name, _, err := workgen.PhysicalName(v.Wrapper)
		if err != nil {
			return "", fmt.Errorf("wrapper: %w", err)
		}
		if err := add(v.Wrapper, name, true, main); err != nil {
			return "", err
		}
		main = protocol.FileRef{OpenName: v.program}
	}
	for _, f := range layers {
		wire.FileRefs = append(wire.FileRefs, protocol.FileRef{FileName: f.Name, CopyFile: v.DockerWrapper != ""})
		doc.WriteString(f.XML())
	}
	if v.Main != "" {
		ext := strings.ToLower(filepath.Ext(v.Main))
		if ext != ".exe" && ext != ".bat" && ext != ".cmd" {
			ext = "" // elsewhere an extension has no meaning, and "1.00" is not one
		}
		if err := add(v.Main, stem+ext, true, main); err != nil {
			return "", err
		}
	}
	for _, g := range v.Files {
		name, _, err := workgen.PhysicalName(g.Path)
		if err != nil {
			return "", err
		}
		if err := protocol.ValidFileName(logicalName(g)); err != nil {
			return "", fmt.Errorf("file %s: %w", g.Path, err)
		}
		if err := add(g.Path, name, v.runs(g) || executable(g.Path), v.fileRef(g)); err != nil {
			return "", err
		}
	}
	doc.WriteString(wire.XML())
	return doc.String(), nil
}

// signFile stores a file under its physical name and returns its description with the signature of
// the stored content.
func signFile(ctx context.Context, p *project.Project, path, physical string, key signer) (protocol.FileInfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return protocol.FileInfo{}, err
	}
	defer f.Close()
	info, err := p.Download.Put(ctx, physical, f)
	if err != nil {
		return protocol.FileInfo{}, err
	}
	return signStored(ctx, p, path, physical, info, key)
}

// signStored returns the description of a stored file. Its signature is next to path if it was made
// elsewhere.
func signStored(ctx context.Context, p *project.Project, path, physical string, info blob.Info, key signer) (protocol.FileInfo, error) {
	stored, err := p.Download.Open(ctx, physical)
	if err != nil {
		return protocol.FileInfo{}, err
	}
	defer stored.Close()
	sig, err := key.signature(path, stored)
	if err != nil {
		return protocol.FileInfo{}, err
	}
	return protocol.FileInfo{Name: physical, NBytes: info.NBytes, MD5: info.MD5, Signature: sig}, nil
}

// paths returns the paths of all its files.
func (v *NewVersion) paths() []string {
	var paths []string
	if v.Main != "" {
		paths = append(paths, v.Main)
	}
	if v.Plain && v.DockerWrapper == "" {
		paths = append(paths, v.Wrapper)
	}
	if v.Job.File != "" {
		paths = append(paths, v.Job.File)
	}
	for _, g := range v.Files {
		paths = append(paths, g.Path)
	}
	return paths
}

// readable checks the files before any is stored: names are given away once.
func (v *NewVersion) readable() error {
	started := make(map[string]bool)
	for _, g := range v.Files {
		started[g.Path] = started[g.Path] || v.runs(g)
	}
	var errs []error
	for _, path := range v.paths() {
		switch st, err := os.Stat(path); {
		case err != nil:
			errs = append(errs, err)
		case !st.Mode().IsRegular():
			errs = append(errs, fmt.Errorf("%s is not a file", path))
		case st.Size() == 0 && (path == v.Main || started[path]):
			errs = append(errs, fmt.Errorf("%s is empty", path))
		case path == v.Main && v.Image == nil || path == v.Wrapper || started[path]:
			errs = append(errs, fits(path, v.Platform))
		}
	}
	return errors.Join(errs...)
}

func executable(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode()&0o111 != 0
}
