package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A clone is a clone of this repository's last commit, from which releases are made.
type clone struct {
	t    *testing.T
	ctx  context.Context
	dir  string
	dist string // the folder with the release of releaseVersion
}

const releaseVersion = "0.1.0"

// sh runs a script in the clone, with additional variables, and returns all its output.
func (c clone) sh(script string, environment ...string) (string, error) {
	cmd := exec.CommandContext(c.ctx, "sh", "-ec", script)
	cmd.Dir = c.dir
	cmd.Env = append(append(os.Environ(), "STARLING_RELEASE_KEY=", "UNSIGNED=", "PLATFORMS=linux/"+runtime.GOARCH), environment...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// must runs a script that has to succeed.
func (c clone) must(script string, environment ...string) string {
	c.t.Helper()
	out, err := c.sh(script, environment...)
	if err != nil {
		c.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return out
}

func newClone(t *testing.T, ctx context.Context) clone {
	t.Helper()
	c := clone{t: t, ctx: ctx, dir: filepath.Join(string(bin), "release")}
	c.dist = filepath.Join(c.dir, "dist", releaseVersion)
	if out, err := exec.CommandContext(ctx, "git", "clone", "--quiet", "..", c.dir).CombinedOutput(); err != nil {
		t.Fatalf("git clone: %v: %s", err, out)
	}
	return c
}

const commit = "git add -A && git -c user.name=e2e -c user.email=e2e@example.org commit --quiet --allow-empty -m 'a test'"

// TestRelease makes a release of the last commit for this computer's architecture. It is refused
// without an address for reports of vulnerabilities and without a key, its signature and checksums
// are right, a second build is identical, and its packages are installed from its repository, run
// and removed.
func TestRelease(t *testing.T) {
	onDemand(t, "STARLING_RELEASE", "test-release")
	needs(t, "git", "ssh-keygen", "zip", "unzip", "apt-get", "createrepo_c")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Minute)
	defer cancel()
	c := newClone(t, ctx)
	key := filepath.Join(t.TempDir(), "key")
	c.must("ssh-keygen -q -t ed25519 -N '' -C '' -f " + key)
	signed := "STARLING_RELEASE_KEY=" + key
	const build = "tools/release/build " + releaseVersion

	for _, refused := range []struct{ prepare, script, want, environment string }{
		{"rm -f SECURITY.md && " + commit, build, "there is no SECURITY.md", signed},
		{"echo SECURITY_CONTACT >SECURITY.md && " + commit, build, "the placeholder SECURITY_CONTACT", signed},
		{"echo security@example.org >SECURITY.md", build, "not committed", signed},
		{commit, build, "STARLING_RELEASE_KEY names no key", ""},
		{"", "tools/release/build v1", "want a version such as 0.1.0", signed},
	} {
		c.must("true;" + refused.prepare)
		if out, err := c.sh(refused.script, refused.environment); err == nil || !strings.Contains(out, refused.want) {
			t.Errorf("want a refusal: %s; got %v: %s", refused.want, err, out)
		}
	}
	t.Log(c.must(build, signed))

	verify := "cd " + c.dist + " && ssh-keygen -Y verify -f allowed_signers -I release@starling -n starling-release -s SHA256SUMS.sig <SHA256SUMS && sha256sum --check --quiet SHA256SUMS"
	if out := c.must(verify); !strings.Contains(out, `Good "starling-release" signature`) {
		t.Errorf("the signature: %s", out)
	}
	if out, err := c.sh("cp -r " + c.dist + " other && cd other && echo >>SHA256SUMS && ssh-keygen -Y verify -f allowed_signers -I release@starling -n starling-release -s SHA256SUMS.sig <SHA256SUMS; rm -rf ../other"); err == nil && strings.Contains(out, "Good") {
		t.Errorf("checksums that were changed have a good signature: %s", out)
	}
	c.must("rm -rf other")
	for _, file := range []string{
		"SHA256SUMS", "VERIFY.md", "Packages.gz", "Release", "repodata/repomd.xml", "homebrew/starling.rb",
		"sbom/starling-" + releaseVersion + "-linux-" + runtime.GOARCH + ".cdx.json", "sbom/starling-server-" + releaseVersion + "-linux-" + runtime.GOARCH + ".cdx.json",
	} {
		if _, err := os.Stat(filepath.Join(c.dist, file)); err != nil {
			t.Error(err)
		}
	}
	if out, err := c.sh("CACHED=1 tools/release/verify " + releaseVersion); err != nil || !strings.Contains(out, "the same: ") {
		t.Errorf("a second build: %v: %s", err, out)
	}
	c.images()
	c.install()
}

// images examines the images: for each architecture they contain a program that prints its version.
func (c clone) images() {
	c.t.Helper()
	for _, program := range []string{"starling", "starling-server"} {
		dir := filepath.Join(c.t.TempDir(), program)
		c.must("mkdir -p " + dir + " && tar -C " + dir + " -xf " + filepath.Join(c.dist, program+"-"+releaseVersion+"-image.tar"))
		var index struct {
			Manifests []struct {
				Digest      string
				Annotations map[string]string
				Platform    struct{ Architecture string }
			}
			Layers []struct{ Digest string }
		}
		read := func(file string) {
			c.t.Helper()
			b, err := os.ReadFile(filepath.Join(dir, file))
			if err == nil {
				err = json.Unmarshal(b, &index)
			}
			if err != nil {
				c.t.Fatal(err)
			}
		}
		blob := func(digest string) string { return filepath.Join("blobs", strings.ReplaceAll(digest, ":", "/")) }
		read("index.json")
		if len(index.Manifests) != 1 || index.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != releaseVersion {
			c.t.Fatalf("%s: the index is %+v", program, index)
		}
		read(blob(index.Manifests[0].Digest))
		if len(index.Manifests) != 1 || index.Manifests[0].Platform.Architecture != runtime.GOARCH {
			c.t.Fatalf("%s: the architectures are %+v", program, index)
		}
		read(blob(index.Manifests[0].Digest))
		root := filepath.Join(dir, "root")
		c.must("mkdir " + root)
		for _, layer := range index.Layers {
			c.must("tar -C " + root + " -xzf " + filepath.Join(dir, blob(layer.Digest)))
		}
		if out := c.must("chroot " + root + " /usr/bin/" + program + " --version"); out != program+" version "+releaseVersion+"\n" {
			c.t.Errorf("the image's program says %q", out)
		}
		for _, file := range []string{"etc/ssl/certs/ca-certificates.crt", "etc/passwd", "usr/share/doc/" + program + "/LICENSE", "usr/share/doc/" + program + "/THIRD-PARTY-LICENSES"} {
			if info, err := os.Stat(filepath.Join(root, file)); err != nil || info.Size() == 0 {
				c.t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// install makes apt install the packages from the release as from a repository.
func (c clone) install() {
	c.t.Helper()
	s := newScratch(c.t, c.ctx, string(bin))
	s.run("dpkg", "--purge", "starling", "starling-server") // in case this computer has them
	sources := filepath.Join(s.root, "/etc/apt/starling.list")
	if err := errors.Join(os.WriteFile(sources, fmt.Appendf(nil, "deb [trusted=yes] file:%s ./\n", c.dist), 0o644), os.Chmod(string(bin), 0o755)); err != nil {
		c.t.Fatal(err)
	}
	apt := []string{"apt-get", "-o", "Dir::Etc::sourcelist=/etc/apt/starling.list", "-o", "Dir::Etc::sourceparts=-", "-o", "APT::Sandbox::User=root", "-y"}
	s.run(append(apt, "update")...)
	s.run(append(apt, "install", "starling", "starling-server")...)
	for _, program := range []string{"starling", "starling-server"} {
		if out := s.run(program, "--version"); out != program+" version "+releaseVersion+"\n" {
			c.t.Errorf("the version is %q", out)
		}
		if out := s.run("systemd-sysusers", "--cat-config"); !strings.Contains(out, "/usr/lib/sysusers.d/"+program+".conf") {
			c.t.Errorf("the user of %s is none of sysusers.d", program)
		}
		s.run("getent", "passwd", program)
		if licenses, err := os.ReadFile(s.root + "/usr/share/doc/" + program + "/THIRD-PARTY-LICENSES"); err != nil || len(licenses) < 50_000 {
			c.t.Errorf("the licenses of %s: %v, %d bytes", program, err, len(licenses))
		}
	}
	s.run(append(apt, "purge", "starling", "starling-server")...)
	for _, user := range []string{"starling", "starling-server"} {
		if out, err := s.try("", "getent", "passwd", user); err == nil {
			c.t.Errorf("a user is left after purging: %s", out)
		}
	}
}

// TestVerifyingARelease types the commands of VERIFY.md in a folder with a signed list of checksums.
func TestVerifyingARelease(t *testing.T) {
	t.Parallel()
	needs(t, "ssh-keygen", "sha256sum")
	s := newStory(t)
	s.typed(`ssh-keygen -q -t ed25519 -N '' -C '' -f key
echo program >starling
sha256sum starling >SHA256SUMS
ssh-keygen -q -Y sign -n starling-release -f key SHA256SUMS
echo "release@starling namespaces=\"starling-release\" $(cut -d ' ' -f 1,2 key.pub)" >allowed_signers`)
	s.prints(s.follow("tools/release/VERIFY.md", "cut"), strings.Fields(s.typed("ssh-keygen -lf key.pub"))[1])
	verify := s.take("tools/release/VERIFY.md", "ssh-keygen -Y verify").Text
	s.prints(s.typed(verify), `Good "starling-release" signature`, "starling: OK")
	s.typed("echo other >starling")
	if out, err := s.try(verify); err == nil {
		t.Errorf("with another file, the commands print %s", out)
	}
	s.typed("sha256sum starling >SHA256SUMS")
	if out, err := s.try(verify); err == nil || strings.Contains(out, "Good") {
		t.Errorf("with another list, the commands print %s, %v", out, err)
	}
}
