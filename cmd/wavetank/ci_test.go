package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// The scripts of action.yaml and of the snippets for GitLab and Tekton run as in their systems,
// without the installation of a released command.
//
//make:campaigns
func TestScriptsForCI(t *testing.T) {
	tidyStories(t)
	path, _ := os.MkdirTemp("", "ci") // as GOPATH, with the command of now
	t.Cleanup(func() { os.RemoveAll(path) })
	build := exec.Command("go", "build", "-o", filepath.Join(path, "bin", "wavetank"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"action": actionScript(t), "GitLab": gitlabScript(t), "Tekton": tektonScript(t),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			report, summary, result := filepath.Join(dir, "r"), filepath.Join(dir, "s"), filepath.Join(dir, "result")
			here := strings.NewReplacer("wavetank-report", report, "./...", shop)
			cmd := exec.Command("sh", "-c", here.Replace(script))
			cmd.Env = append(os.Environ(), "GOPATH="+path, "GOMODCACHE="+strings.TrimSpace(string(cache)),
				"SEED=", "FOR=200ms", "PACKAGES="+shop, "REPORT="+report, "RESULT="+result, "WAVETANK_SEED=",
				"WAVETANK_FOR=200ms", "GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY="+summary,
				"PATH="+filepath.Join(path, "bin")+":"+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != exitBroke || !strings.Contains(string(out), "\n::error file=") {
				t.Fatalf("%v, and no annotation:\n%s", err, out)
			}
			for file, want := range map[string]string{
				filepath.Join(report, "index.html"): "TestBreaks", filepath.Join(report, "junit.xml"): "<failure",
				filepath.Join(report, "summary.md"): "\n- The last ", summary: "| **1 cause** |",
			} {
				if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), want) {
					t.Errorf("%s has no %q (%v)", file, want, err)
				}
			}
			if kept, _ := filepath.Glob(filepath.Join(report, "stories", "*.txtar")); len(kept) == 0 {
				t.Error("no story is kept")
			}
			if code, _ := os.ReadFile(result); name == "Tekton" && string(code) != "1" {
				t.Errorf("the task's result is %q", code)
			}
		})
	}
}

// decode reads a file of YAML.
func decode(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", path))
	if err == nil {
		err = yaml.UnmarshalStrict(data, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

type step struct {
	Name, Uses, Run, Shell, If, Script, Image string
	WorkingDirectory                          string `json:"working-directory"`
	WorkingDir                                string
	With                                      map[string]any
	Env                                       any
}

// actionScript is the script that searches. Each input that is named is declared.
func actionScript(t *testing.T) string {
	var action struct {
		Name, Description string
		Branding          any
		Inputs            map[string]struct{ Description, Default string }
		Runs              struct {
			Using string
			Steps []step
		}
	}
	decode(t, "action.yaml", &action)
	text, _ := os.ReadFile("../../action.yaml")
	for _, part := range strings.Split(string(text), "${{ inputs.")[1:] {
		name, _, _ := strings.Cut(part, " ")
		if _, ok := action.Inputs[name]; !ok {
			t.Errorf("action.yaml names the input %q, which is not declared", name)
		}
	}
	for _, s := range action.Runs.Steps {
		if s.Name == "Search" {
			return s.Run
		}
	}
	t.Fatal("action.yaml has no step that searches")
	return ""
}

func gitlabScript(t *testing.T) string {
	var jobs map[string]struct {
		Image, Stage string
		Variables    map[string]string
		Script       []string
		Artifacts    any
	}
	decode(t, "docs/ci/gitlab-ci.yml", &jobs)
	return withoutInstall(jobs["wavetank"].Script...)
}

func tektonScript(t *testing.T) string {
	var task struct {
		APIVersion, Kind string
		Metadata         any
		Spec             struct {
			Params, Workspaces, Results any
			Steps                       []step
		}
	}
	decode(t, "docs/ci/tekton-task.yaml", &task)
	return withoutInstall(strings.Split(task.Spec.Steps[0].Script, "\n")...)
}

func withoutInstall(lines ...string) string {
	var out []string
	for _, line := range lines {
		if !strings.HasPrefix(line, "go install ") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}
