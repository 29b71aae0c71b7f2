package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// proxy writes the committed code of the released modules as a module proxy keeps it
// (https://go.dev/ref/mod#goproxy-protocol).
func proxy(root, dir, version string) error {
	committed, err := git(root, "log", "-1", "--format=%cI")
	if err != nil {
		return err
	}
	for _, sub := range released {
		m := module.Version{Path: strings.TrimSuffix(modulePath+"/"+sub, "/."), Version: version}
		at := filepath.Join(dir, filepath.FromSlash(m.Path), "@v")
		if err := os.MkdirAll(at, 0o777); err != nil {
			return err
		}
		var code bytes.Buffer
		if err := zip.CreateFromVCS(&code, m, root, "HEAD", strings.TrimPrefix(sub, ".")); err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
		mod, err := os.ReadFile(filepath.Join(root, sub, "go.mod"))
		if err != nil {
			return err
		}
		info, err := json.Marshal(map[string]string{"Version": version, "Time": committed})
		if err != nil {
			return err
		}
		for name, data := range map[string][]byte{"list": []byte(version + "\n"), version + ".info": info,
			version + ".mod": mod, version + ".zip": code.Bytes()} {
			if err := os.WriteFile(filepath.Join(at, name), data, 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}

// pairs are the versions of controller-runtime and k8s.io that the stranger's operator has.
var pairs = [][2]string{{"v0.23.3", "v0.35.0"}, {"v0.24.1", "v0.36.0"}, {"v0.25.0", "v0.37.0"}}

// consume uses the committed code as a stranger would, by the commands of the README: in an
// operator that kubebuilder has laid out, with the version from a module proxy and a module cache
// that has never seen Wavetank. The operator's own versions must stay as they are.
func consume(root, version string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "consume")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	from := filepath.Join(tmp, "proxy")
	if err := proxy(root, from, version); err != nil {
		return err
	}
	cached, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		return err
	}
	cache, upstream, _ := strings.Cut(strings.TrimSpace(string(cached)), "\n")
	s := stranger{bin: filepath.Join(tmp, "bin")}
	s.env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-modcacherw", "GOSUMDB=off", "GOBIN="+s.bin,
		"GOMODCACHE="+filepath.Join(tmp, "mod"), "GOPROXY=file://"+from+",file://"+cache+"/cache/download,"+upstream)
	for i, pair := range pairs {
		s.dir = filepath.Join(tmp, "operator"+pair[0])
		if err := s.operator(filepath.Join(root, "examples", "backup"), pair); err != nil {
			return err
		}
		if err := s.firstTest(version); err != nil {
			return err
		}
		if i > 0 {
			continue
		}
		if err := s.command(version); err != nil {
			return err
		}
	}
	return nil
}

// stranger is an author with an operator and a module cache of their own.
type stranger struct {
	dir, bin string
	env      []string
}

func (s *stranger) run(command ...string) error {
	fmt.Println("$", strings.ReplaceAll(strings.Join(command, " "), s.bin+"/", ""))
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, s.env, os.Stdout, os.Stderr
	return cmd.Run()
}

// operator creates the operator, at its own versions and without Wavetank.
func (s *stranger) operator(example string, pair [2]string) error {
	if err := os.CopyFS(s.dir, os.DirFS(example)); err != nil {
		return err
	}
	var tests []string
	err := filepath.WalkDir(s.dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, "_sim_test.go") {
			tests = append(tests, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	hidden := func(test string) string { return test + ".later" }
	for _, test := range tests {
		if err := os.Rename(test, hidden(test)); err != nil {
			return err
		}
	}
	edit := []string{"go", "mod", "edit", "-dropreplace=" + modulePath, "-droprequire=" + modulePath,
		"-require=sigs.k8s.io/controller-runtime@" + pair[0]}
	for _, m := range []string{"api", "apimachinery", "client-go"} {
		edit = append(edit, "-require=k8s.io/"+m+"@"+pair[1])
	}
	if err := s.run(edit...); err != nil {
		return err
	}
	if err := s.run("go", "mod", "tidy"); err != nil {
		return err
	}
	for _, test := range tests {
		if err := os.Rename(hidden(test), test); err != nil {
			return err
		}
	}
	return nil
}

// firstTest is the way to the first green run. No version of the operator may change on it.
func (s *stranger) firstTest(version string) error {
	before, err := s.requires()
	if err != nil {
		return err
	}
	for _, command := range [][]string{
		{"go", "get", modulePath + "@" + version},
		{"go", "mod", "tidy"},
		{"go", "test", "./internal/controller", "-run", "^TestOneClaim$"},
	} {
		if err := s.run(command...); err != nil {
			return err
		}
	}
	after, err := s.requires()
	if err != nil {
		return err
	}
	for path, v := range before {
		if after[path] != v {
			return fmt.Errorf("%s of the operator was %s, and is %s", path, v, after[path])
		}
	}
	return nil
}

// command installs the command and uses it.
func (s *stranger) command(version string) error {
	wavetank := filepath.Join(s.bin, "wavetank")
	for _, command := range [][]string{
		{"go", "install", modulePath + "/cmd/wavetank@" + version},
		{wavetank, "doctor", "./..."},
		{wavetank, "list", "./..."},
		{wavetank, "run", "./internal/controller", "--run", "^TestOneClaim$", "--runs", "20", "--procs", "1"},
	} {
		if err := s.run(command...); err != nil {
			return err
		}
	}
	return nil
}

// requires are the versions that the operator's go.mod requires.
func (s *stranger) requires() (map[string]string, error) {
	data, err := os.ReadFile(filepath.Join(s.dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	f, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, r := range f.Require {
		if r.Mod.Path != modulePath {
			out[r.Mod.Path] = r.Mod.Version
		}
	}
	return out, nil
}
