package wasmhost

import (
	"archive/zip"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"
)

// A module is compiled for the processor before it runs, which can take seconds. A client that keeps
// the compiled code for later tasks places a link named CompiledFile in the slot. It leads to the
// code, if there is any yet. Code that is newly compiled is then in NewlyCompiledFile when the task
// ends. A module can change neither, because both are outside of its folder.
const (
	CompiledFile      = "starling_compiled"
	NewlyCompiledFile = "starling_newly_compiled"
)

// compilerDir is the folder in the slot with the compiler's files.
const compilerDir = "starling_compiler"

// expansion is the number of bytes that compiled code may take for each byte of its module. Three to
// five are usual.
const expansion = 16

// prepare compiles a module, or takes the code that was compiled for an earlier task.
func prepare(app runtime, module []byte) (wazero.Runtime, wazero.CompiledModule, error) {
	ctx := app.Context()
	bound := app.InitData().RscDiskBound // the files count as the task's
	if _, err := os.Lstat(CompiledFile); err != nil || bound > 0 && bound < expansion*int64(len(module)) {
		return compile(ctx, module, "")
	}
	defer func() { _ = os.RemoveAll(compilerDir) }() // before the module can fill the disk
	known := unpack(app)
	r, code, err := compile(ctx, module, compilerDir)
	if err != nil { // the files may be damaged
		_ = os.RemoveAll(compilerDir)
		known = nil
		r, code, err = compile(ctx, module, compilerDir)
	}
	if err != nil { // the disk may be full
		return compile(ctx, module, "")
	}
	for _, name := range known {
		_ = os.Remove(filepath.Join(compilerDir, filepath.FromSlash(name)))
	}
	pack()
	return r, code, nil
}

// compile compiles a module, or takes the code in the folder, where it leaves new code. With "" it
// uses no folder.
func compile(ctx context.Context, module []byte, dir string) (wazero.Runtime, wazero.CompiledModule, error) {
	config := wazero.NewRuntimeConfig().WithCloseOnContextDone(true).WithMemoryLimitPages(pages)
	if dir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(dir)
		if err != nil {
			return nil, nil, err
		}
		config = config.WithCompilationCache(cache)
	}
	r := wazero.NewRuntimeWithConfig(ctx, config)
	code, err := r.CompileModule(ctx, module)
	if err != nil {
		return nil, nil, errors.Join(err, r.Close(context.WithoutCancel(ctx)))
	}
	return r, code, nil
}

// unpack creates the compiler's folder with the files that this or an earlier task has packed, and
// returns their names. Without usable files the folder is empty.
func unpack(app runtime) []string {
	_ = os.RemoveAll(compilerDir)
	for _, logical := range []string{NewlyCompiledFile, CompiledFile} {
		path, err := app.Resolve(logical)
		if err != nil {
			continue
		}
		z, err := zip.OpenReader(path)
		if err != nil {
			continue
		}
		err = os.CopyFS(compilerDir, z)
		names := files(z)
		_ = z.Close()
		if err == nil {
			return names
		}
		_ = os.RemoveAll(compilerDir)
	}
	return nil
}

// pack packs the files in the compiler's folder, if there are any. If it cannot, the next task compiles
// the module again.
func pack() {
	dir := os.DirFS(compilerDir)
	if len(files(dir)) == 0 {
		return
	}
	tmp := NewlyCompiledFile + ".part"
	f, err := os.Create(tmp)
	if err != nil {
		return
	}
	z := zip.NewWriter(f)
	err = errors.Join(z.AddFS(dir), z.Close(), f.Close())
	if err == nil {
		err = os.Rename(tmp, NewlyCompiledFile)
	}
	if err != nil {
		_ = os.Remove(tmp)
	}
}

// files returns the names of all regular files.
func files(dir fs.FS) []string {
	var names []string
	_ = fs.WalkDir(dir, ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			names = append(names, name)
		}
		return nil
	})
	return names
}
