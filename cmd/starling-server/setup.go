package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/starling-grid/starling/internal/script"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/python"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/operate/image"
	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/workgen"
)

func initCmd() *cobra.Command {
	var n operate.NewProject
	cmd := &cobra.Command{
		Use:     "init DIR --name NAME --url http://HOST:PORT/PATH/",
		Short:   "Create a project",
		Example: "  starling-server init demo --name \"Demo project\" --url http://127.0.0.1:8080/demo/",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := operate.Init(cmd.Context(), args[0], n); err != nil {
				return err
			}
			fmt.Printf("project %s created in %s; its settings are in %s\n", n.Name, args[0], filepath.Join(args[0], "server.toml"))
			return nil
		},
	}
	cmd.Flags().StringVar(&n.Name, "name", "", "the project's name, as volunteers see it")
	cmd.Flags().StringVar(&n.MasterURL, "url", "", "the address that volunteers attach to; the host name needs a dot")
	cmd.Flags().StringVar(&n.Database, "db", "", "an empty PostgreSQL database, postgres://USER:PASSWORD@HOST/NAME (default: SQLite, a file in DIR)")
	cmd.Flags().StringVar(&n.Files, "files", "", "a bucket of an S3 service, s3://BUCKET/PREFIX?endpoint=HOST:PORT (default: folders in DIR)")
	require(cmd, "name", "url")
	return cmd
}

func require(cmd *cobra.Command, flags ...string) {
	for _, f := range flags {
		if err := cmd.MarkFlagRequired(f); err != nil {
			panic(err) // no such flag
		}
	}
}

func userCmd() *cobra.Command {
	var email, password, name string
	add := &cobra.Command{
		Use:   "add DIR --email E",
		Short: "Create an account and print its authenticator",
		Args:  cobra.ExactArgs(1),
		RunE: inProject(func(ctx context.Context, p *project.Project, _ []string) error {
			key, err := operate.AddUser(ctx, p, email, name, password, time.Now())
			if err != nil {
				return err
			}
			fmt.Println(string(key))
			return nil
		}),
	}
	add.Flags().StringVar(&email, "email", "", "e-mail address")
	add.Flags().StringVar(&password, "password", "", "password, needed to attach with the e-mail address")
	add.Flags().StringVar(&name, "name", "", "public name (default: the part of the address before the @)")
	require(add, "email")
	return group("user", "Accounts", add, renewCmd(), listCmd(view.Users), showUserCmd(), passwdCmd(), banUserCmd(true), banUserCmd(false), trustUserCmd(true), trustUserCmd(false), deleteUserCmd())
}

func renewCmd() *cobra.Command {
	var email string
	var yes bool
	cmd := &cobra.Command{
		Use:   "renew-key DIR --email E",
		Short: "Replace an account's authenticator and print the new one",
		Long: "Replace an account's authenticator, for example because it was leaked, and print the new one.\n" +
			"Computers attached with the old one get no more work until they are attached again.\n\n" +
			"Without --yes, the command only counts these computers.",
		Args: cobra.ExactArgs(1),
		RunE: inProject(func(ctx context.Context, p *project.Project, _ []string) error {
			if !yes {
				use, err := operate.UseOf(ctx, p, email)
				if err == nil {
					fmt.Printf("%s of account %d would get no more work until they are attached again.\n%s\n", words.Count(use.Computers, "computer"), use.ID, unchanged)
				}
				return err
			}
			key, err := operate.RenewKey(ctx, p, email)
			if err != nil {
				return err
			}
			fmt.Println(string(key))
			return nil
		}),
	}
	cmd.Flags().StringVar(&email, "email", "", "e-mail address of the account")
	cmd.Flags().BoolVar(&yes, "yes", false, "replace the authenticator instead of only counting")
	require(cmd, "email")
	return cmd
}

func appCmd() *cobra.Command {
	var a operate.NewApp
	var outputs []string
	add := &cobra.Command{
		Use:   "add DIR APP",
		Short: "Add an application",
		Long: "Add an application. If templates/APP_out does not exist, the command writes it from the --output flags.\n" +
			"You can edit it, and write templates/APP_in, both in BOINC's format.",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.Name = args[1]
			for _, o := range outputs {
				f, err := parseOutput(o)
				if err != nil {
					return err
				}
				a.Outputs = append(a.Outputs, f)
			}
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
				return operate.AddApp(ctx, p, a, time.Now())
			})
		},
	}
	appFlags(add.Flags(), &a)
	add.Flags().StringArrayVar(&outputs, "output", nil, "an output file, LOGICAL[:MAXBYTES]; may be repeated (default: out:10000000)")
	return group("app", "Applications", add, setCmd(), listCmd(view.Apps), stopCmd(true), stopCmd(false), retryAppCmd())
}

// appFlags defines the flags for an application's settings.
func appFlags(f *pflag.FlagSet, a *operate.NewApp) {
	f.StringVar(&a.FriendlyName, "friendly-name", "", "name shown to volunteers (default: APP)")
	f.StringVar(&a.Validator, "validator", "bitwise", "how results are compared: bitwise, trivial, numeric:ABS[,REL], exec:CMD or lines:CMD (see docs/programs.md)")
	f.StringVar(&a.Assimilator, "assimilator", "copy", "what to do with outcomes: copy or exec:CMD (see docs/programs.md)")
	f.IntVar(&a.HomogeneousRedundancy, "homogeneous-redundancy", 0, "send the results of a workunit only to similar computers: 0 no, 1 same system and processor family, 2 same system and processor model")
	f.BoolVar(&a.HomogeneousAppVersion, "homogeneous-app-version", false, "compute all results of a workunit with the same app version")
	f.IntVar(&a.TargetNResults, "target-nresults", 0, "adaptive replication: results of a workunit with a quorum of 1 while its computer is not yet trusted")
	f.Float64Var(&a.Weight, "weight", 1, "share of the computing time relative to other applications with waiting work of the same priority")
	f.DurationVar(&a.TaskTime, "task-time", 0, "how long a task should take on its computer, for instance 4h: fast computers get large tasks, slow ones small tasks (default: any)")
	f.BoolVar(&a.NonCPUIntensive, "non-cpu-intensive", false, "tasks need little CPU time: each computer gets one at a time, and runs it in addition to the tasks that fill its CPUs")
	f.StringVar(&a.Credit, "credit", "flops", "what a valid result is worth: flops (of rsc_fpops_est), fixed:N or runtime (see docs/dispatch.md)")
	f.StringVar(&a.Trickle, "trickle", "", "handler of trickle-up messages: exec:CMD (default: none; they are stored, see trickle list)")
}

func setCmd() *cobra.Command {
	var said operate.NewApp
	cmd := &cobra.Command{
		Use:   "set DIR APP",
		Short: "Change the settings of an application",
		Long:  "Change the given settings of an application. A running server applies them.",
		Args:  cobra.ExactArgs(2), PreRunE: saysWhat,
	}
	appFlags(cmd.Flags(), &said)
	cmd.RunE = inProject(func(ctx context.Context, p *project.Project, args []string) error {
		return operate.SetApp(ctx, p, args[1], func(a *operate.NewApp) {
			present := *a
			setGiven(cmd, func(f *pflag.FlagSet) {
				appFlags(f, a)
				*a = present // the flags' defaults have overwritten it
			})
		}, time.Now())
	})
	return cmd
}

// saysWhat refuses a command that changes settings, if it changes none.
func saysWhat(cmd *cobra.Command, _ []string) error {
	some := false
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { some = some || f.Changed })
	if !some {
		return fmt.Errorf("say what to change: see %s --help", cmd.CommandPath())
	}
	return nil
}

// setGiven sets the values that define binds to flags, for those flags that were given to a command.
func setGiven(cmd *cobra.Command, define func(*pflag.FlagSet)) {
	now := pflag.NewFlagSet("now", pflag.ContinueOnError)
	define(now)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if now.Lookup(f.Name) != nil {
			_ = now.Set(f.Name, f.Value.String()) // it was parsed before
		}
	})
}

func parseOutput(s string) (workgen.OutputFile, error) {
	name, size, ok := strings.Cut(s, ":")
	f := workgen.OutputFile{Logical: name, MaxNBytes: workgen.DefaultMaxNBytes}
	if name == "" {
		return f, fmt.Errorf("--output %q: the name is missing, want LOGICAL[:MAXBYTES]", s)
	}
	if ok {
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil || n <= 0 {
			return f, fmt.Errorf("--output %q: %q is not a number of bytes", s, size)
		}
		f.MaxNBytes = n
	}
	return f, nil
}

func versionCmd() *cobra.Command {
	var v operate.NewVersion
	var files []string
	var container string
	var functions bool
	add := &cobra.Command{
		Use:   "add DIR APP --platform P --version N.NN {--main FILE | --image IMAGE}",
		Short: "Sign and publish an application version",
		Long: "Sign the files of an application version with the project's private key, and publish it.\n\n" +
			"With --image, the program is in a container image: an archive written by docker save or podman save, oci:DIR for a\n" +
			"folder in OCI's format, or a name in a registry, such as docker.io/library/python@sha256:…. Starling's agents on\n" +
			"Linux run it in their sandbox, without Docker. BOINC's clients run it in Docker or Podman if you publish it a\n" +
			"second time with --docker-wrapper.\n\n" +
			"With --python, the image's python3 runs Python functions, which scientists send with the package starling_grid.\n\n" +
			"The private key can be on another computer. If keys/code_sign_private is missing, each file needs a signature\n" +
			"next to it (FILE.sig), made by version sign or BOINC's sign_executable.",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			v.App = args[1]
			for _, f := range files {
				v.Files = append(v.Files, given(f))
			}
			if functions {
				v.Python = python.Runner
			}
			if container != "" {
				wanted := v.Platform
				if v.DockerWrapper != "" {
					wanted = operate.ImagePlatform(v.Platform)
				}
				var err error
				if v.Image, err = image.Open(cmd.Context(), container, wanted); err != nil {
					return err
				}
				defer v.Image.Close()
				if v.Image.Name != container {
					fmt.Printf("%s is %s\n", container, v.Image.Name)
				}
				v.Plain = true
			}
			if v.Plain && v.Wrapper == "" && v.DockerWrapper == "" {
				var err error
				if v.Wrapper, err = findWrapper(v.Platform); err != nil {
					return err
				}
			}
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
				err := operate.AddVersion(ctx, p, v, time.Now())
				if usual, meant := operate.UsualPlatform(v.Platform); err == nil && !usual {
					fmt.Printf("Few clients ask for the platform %s.", v.Platform)
					if meant != "" {
						fmt.Printf(" If you mean %s, publish it for that platform.", meant)
					}
					fmt.Println()
				}
				if err == nil && !v.Plain && isScript(v.Main) {
					fmt.Printf("%s is a script. If it does not use BOINC's API, its tasks fail: then publish it with --plain.\n", v.Main)
				}
				return err
			})
		},
	}
	f := add.Flags()
	f.StringVar(&v.Platform, "platform", "", "platform it runs on, for example x86_64-pc-linux-gnu")
	f.StringVar(&v.Number, "version", "", "major and minor number, for example 1.00")
	f.StringVar(&v.Main, "main", "", "main program")
	f.StringVar(&container, "image", "", "a container image instead of a main program: FILE.tar, oci:DIR or REGISTRY/NAME[@DIGEST]")
	f.BoolVar(&functions, "python", false, "with --image: run the Python functions that starling_grid sends, by the image's python3")
	f.StringArrayVar(&files, "file", nil, "an additional file, FILE[=LOGICAL]; may be repeated")
	f.StringVar(&v.PlanClass, "plan-class", "", "restrict it to computers of a [plan_class.NAME] in server.toml (default: all)")
	f.StringVar(&v.MinCore, "min-core-version", "", "oldest version of BOINC's client that can run it, for example 7.4")
	f.StringVar(&v.MaxCore, "max-core-version", "", "newest version of BOINC's client that can run it")
	f.StringVar(&v.Cmdline, "cmdline", "", "arguments to add to those of each workunit")
	f.BoolVar(&v.Plain, "plain", false, "the program does not use BOINC's API: wrap it, and copy its files into its folder")
	f.StringVar(&v.Wrapper, "wrapper", "", "the wrapper for --plain and --image (default: starling-wrap-PLATFORM or starling-wrap next to this program, or in ../lib/starling)")
	f.StringVar(&v.DockerWrapper, "docker-wrapper", "", "with --image: BOINC's docker_wrapper for the platform; publish the image for BOINC's clients, which run it in Docker or Podman")
	f.StringArrayVar(&v.Job.Checkpoints, "checkpoint", nil, "with --plain or --image: a file that the program writes when it has made a checkpoint; may be repeated")
	f.StringVar(&v.Job.Progress, "progress", "", "with --plain or --image: a file whose last number is the fraction done, 0 to 1")
	f.StringVar(&v.Job.Pattern, "progress-pattern", "", "with --plain or --image: a regular expression for what the program prints, such as 'step ([0-9]+) of ([0-9]+)', or with one group for the fraction done, or the percentage if a % is part of the match")
	f.StringArrayVar(&v.Job.Env, "env", nil, "with --plain or --image: a variable of the program's environment, NAME=VALUE; may be repeated")
	f.StringVar(&v.Job.File, "job", "", "with --plain or --image: a job.xml of BOINC's wrapper, for several programs and archives")
	require(add, "platform", "version")
	add.MarkFlagsOneRequired("main", "image")
	add.MarkFlagsMutuallyExclusive("main", "image")
	return group("version", "Manage application versions", add, signCmd(), listCmd(view.Versions), deprecateCmd(), removeCmd())
}

// given splits FILE[=LOGICAL].
func given(s string) workgen.Given {
	if i := strings.LastIndexByte(s, '='); i > 0 && !strings.ContainsAny(s[i:], `/\`) {
		return workgen.Given{Path: s[:i], Logical: s[i+1:]}
	}
	return workgen.Given{Path: s}
}

// isScript reports whether a file is a script for Unix systems.
func isScript(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, script.Longest)
	n, err := io.ReadFull(f, head)
	return (err == nil || errors.Is(err, io.ErrUnexpectedEOF)) && script.Interpreter(head[:n]) != ""
}

// findWrapper looks for the wrapper of a platform next to this program, and where packages install
// the wrappers of all platforms.
func findWrapper(platform string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	ext := ""
	if strings.HasPrefix(platform, "windows") {
		ext = ".exe"
	}
	dir := filepath.Dir(self)
	name := "starling-wrap-" + platform + ext
	names := []string{filepath.Join(dir, name), filepath.Join(dir, "..", "lib", "starling", name)}
	if native(platform) {
		names = append(names, filepath.Join(dir, "starling-wrap"+ext))
	}
	for _, n := range names {
		if _, err := os.Stat(n); err == nil {
			return n, nil
		}
	}
	err = fmt.Errorf("no wrapper for %s: looked for %s; name it with --wrapper", platform, strings.Join(names, ", "))
	if usual, meant := operate.UsualPlatform(platform); !usual && meant != "" {
		err = fmt.Errorf("%w, or did you mean the platform %s?", err, meant)
	}
	return "", err
}

// native reports whether a program built like this one runs on a platform.
func native(platform string) bool {
	arch := map[string]string{"amd64": "x86_64", "386": "i686", "arm64": "aarch64", "arm": "arm", "riscv64": "riscv64"}[runtime.GOARCH]
	switch runtime.GOOS {
	case "linux":
		return strings.HasPrefix(platform, arch+"-") && strings.Contains(platform, "linux")
	case "windows":
		return platform == "windows_x86_64" && runtime.GOARCH == "amd64" || platform == "windows_arm64" && runtime.GOARCH == "arm64"
	case "darwin":
		return strings.HasSuffix(platform, "-apple-darwin") &&
			(strings.HasPrefix(platform, arch) || strings.HasPrefix(platform, runtime.GOARCH))
	}
	return false
}
