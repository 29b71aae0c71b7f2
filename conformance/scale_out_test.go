//go:build conformance

package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// The manifest of a campaign, as docs/scale-out.md shows it, runs as a Job of four Pods under the
// Job controller of kube-controller-manager. One Pod is killed, and its replacement continues from
// its result. The merged result is that of four local shards. A second Job tests an operator with a
// bug: no Pod that finds it is replaced.
func TestScaleOut(t *testing.T) {
	c, err := client.New(real.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	startJobController(t)
	tools := t.TempDir()
	wavetank, binary := filepath.Join(tools, "wavetank"), filepath.Join(tools, "backup.test")
	build(t, ".", "go", "build", "-o", wavetank, "github.com/wavetank/wavetank/cmd/wavetank")
	build(t, "../examples/backup", "go", "test", "-c", "-o", binary, "./internal/controller")
	for bug, runs := range map[string]int{"": 4000, "WAVETANK_TEST_GENERATED=true": 400} {
		t.Run(bug, func(t *testing.T) {
			job := fourPods(t, bug, runs)
			p := &localPods{client: c, claims: t.TempDir(), started: map[types.UID]*process{},
				unpack: func() (string, error) { return unpack(t, binary) }}
			results := filepath.Join(p.claims, job.Spec.Template.Spec.Volumes[0].PersistentVolumeClaim.ClaimName)
			ctx, stop := context.WithCancel(t.Context())
			over := make(chan struct{})
			go func() { defer close(over); p.run(ctx, t) }()
			defer func() { stop(); <-over }()
			if err := c.Create(ctx, job); err != nil {
				t.Fatal(err)
			}
			if bug == "" {
				killOnce(t, p, "2", results)
			}
			await(t, c, job)
			checkPods(t, p, job, bug == "")
			want := merged(t, wavetank, inShards(t, binary, bug, runs, job), runs, bug == "")
			if d := cmp.Diff(want, merged(t, wavetank, results, runs, bug == "")); d != "" {
				t.Errorf("the result of the Job differs from that of four local shards (-local +Job):\n%s", d)
			}
		})
	}
}

// startJobController starts kube-controller-manager with the Job controller alone.
func startJobController(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(config, real.env.KubeConfig, 0o600); err != nil {
		t.Fatal(err)
	}
	path := ""
	for _, assets := range []string{real.env.BinaryAssetsDirectory, filepath.Join("..", "bin", "envtest")} {
		path, _ = filepath.Abs(filepath.Join(assets, "kube-controller-manager"))
		if _, err := os.Stat(path); err == nil {
			break
		}
		path = ""
	}
	if path == "" {
		t.Fatalf("no kube-controller-manager in %s: run `make envtest-assets CONTROLLERS=1`, which compiles it",
			real.env.BinaryAssetsDirectory)
	}
	var said bytes.Buffer
	cmd := exec.Command(path, "--kubeconfig="+config, "--controllers=job-controller", "--leader-elect=false",
		"--secure-port=0", "--use-service-account-credentials=false")
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // which was killed
		if t.Failed() {
			t.Logf("kube-controller-manager:\n%s", said.String())
		}
	})
}

func build(t *testing.T, dir string, command ...string) {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	if dir != "." {
		cmd.Env = append(os.Environ(), "GOWORK=off")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
}

// fourPods is the Job of docs/campaign-job.yaml with fewer Pods and runs.
func fourPods(t *testing.T, bug string, runs int) *batchv1.Job {
	t.Helper()
	text, err := os.ReadFile("../docs/campaign-job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range [][2]string{
		{"completions: 20\n", "completions: 4\n"},
		{"parallelism: 20\n", "parallelism: 4\n"},
		{"maxFailedIndexes: 20 ", "maxFailedIndexes: 4 "},
		{`{name: SIM_SHARDS, value: "20"}`, `{name: SIM_SHARDS, value: "4"}`},
		{`{name: SIM_RUNS, value: "1000000"}`, fmt.Sprintf(`{name: SIM_RUNS, value: "%d"}`, runs)},
	} {
		if bytes.Count(text, []byte(by[0])) != 1 {
			t.Fatalf("the manifest must have %q once", by[0])
		}
		text = bytes.Replace(text, []byte(by[0]), []byte(by[1]), 1)
	}
	job := &batchv1.Job{}
	if err := yaml.UnmarshalStrict(text, job); err != nil {
		t.Fatal(err)
	}
	job.Namespace = "default"
	if name, value, ok := strings.Cut(bug, "="); ok {
		job.Name += "-with-bug"
		env := &job.Spec.Template.Spec.Containers[0].Env
		*env = append(*env, (*env)[0])
		(*env)[len(*env)-1].Name, (*env)[len(*env)-1].Value = name, value
	}
	return job
}

// unpack makes a directory with the files that the manifest's image has.
func unpack(t *testing.T, binary string) (root string, err error) {
	root = t.TempDir()
	return root, errors.Join(
		os.MkdirAll(filepath.Join(root, "tests/internal/controller"), 0o777),
		os.CopyFS(filepath.Join(root, "tests/config/crd/bases"), os.DirFS("../examples/backup/config/crd/bases")),
		os.Symlink(binary, filepath.Join(root, "tests/backup.test")),
	)
}

// killOnce kills the process with an index when it has written a result and is not done.
func killOnce(t *testing.T, p *localPods, index, results string) {
	t.Helper()
	for began := time.Now(); time.Since(began) < 2*time.Minute; time.Sleep(20 * time.Millisecond) {
		paths, _ := filepath.Glob(filepath.Join(results, "*.shard-"+index+"-of-4.json"))
		if len(paths) == 0 {
			continue
		}
		var r struct {
			Next     int
			Complete bool
		}
		if text, err := os.ReadFile(paths[0]); err != nil || json.Unmarshal(text, &r) != nil || r.Next == 0 {
			continue
		}
		if r.Complete {
			t.Fatal("the shard was complete before it could be killed: it must make more runs")
		}
		if err := p.of(index)[0].cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatal("the shard has written no result in two minutes")
}

// await waits until a Job has ended.
func await(t *testing.T, c client.Client, job *batchv1.Job) {
	t.Helper()
	for began := time.Now(); time.Since(began) < 10*time.Minute; time.Sleep(200 * time.Millisecond) {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(job), job); err != nil {
			t.Fatal(err)
		}
		for _, cond := range job.Status.Conditions {
			if cond.Type == batchv1.JobComplete || cond.Type == batchv1.JobFailed {
				t.Logf("%s: %s %s", cond.Type, cond.Reason, cond.Message)
				return
			}
		}
	}
	t.Fatalf("the Job has not ended after ten minutes: %+v", job.Status)
}

// checkPods compares how a Job and its Pods have ended with how they must.
func checkPods(t *testing.T, p *localPods, job *batchv1.Job, passes bool) {
	t.Helper()
	for index, want := range map[string]int{"0": 1, "1": 1, "2": 2, "3": 1} {
		if !passes {
			want = 1 // a finding is found again
		}
		got := p.of(index)
		if len(got) != want {
			t.Errorf("shard %s had %d Pods, want %d", index, len(got), want)
		}
		if !passes {
			continue
		}
		continued := 0
		for _, c := range got {
			if strings.Contains(c.output.String(), "continuing with run") {
				continued++
			}
		}
		if continued != want-1 {
			t.Errorf("%d Pods of shard %s continue, want %d:\n%s", continued, index, want-1, got[0].output.String())
		}
	}
	if s := job.Status; passes && (s.Succeeded != 4 || s.Failed != 1) ||
		!passes && (s.Succeeded != 0 || s.FailedIndexes == nil || *s.FailedIndexes != "0-3") {
		t.Errorf("the Job's status is %+v", s)
	}
}

// inShards makes the campaign of a Job in four local processes. It returns the directory of their
// results.
func inShards(t *testing.T, binary, bug string, runs int, job *batchv1.Job) (results string) {
	t.Helper()
	results = t.TempDir()
	of := job.Spec.Template.Spec.Containers[0]
	for i := range 4 {
		root, err := unpack(t, binary)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(filepath.Join(root, of.Command[0]), append(slices.Clone(of.Command[1:]),
			fmt.Sprintf("-sim.shard=%d/4", i), fmt.Sprintf("-sim.runs=%d", runs), "-sim.for=0",
			"-sim.seed=20261121", "-sim.keep-going", "-sim.report="+results)...)
		cmd.Dir = filepath.Join(root, of.WorkingDir)
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1", bug)
		if out, err := cmd.CombinedOutput(); (err == nil) != (bug == "") {
			t.Fatalf("local shard %d: %v\n%s", i, err, out)
		}
	}
	return results
}

// noted matches the time that a story notes.
var noted = regexp.MustCompile(`took: [0-9.msh]+\\n`)

// merged merges the results in a directory and returns the merged one without what it has of time.
func merged(t *testing.T, wavetank, results string, runs int, passes bool) (out map[string]any) {
	t.Helper()
	to := t.TempDir()
	if text, err := exec.Command(wavetank, "report", "--merge", to, results).CombinedOutput(); (err == nil) != passes {
		t.Fatalf("wavetank report --merge: %v\n%s", err, text)
	}
	paths, _ := filepath.Glob(filepath.Join(to, "*.json"))
	if len(paths) != 1 {
		t.Fatalf("merged results: %v", paths)
	}
	text, err := os.ReadFile(paths[0])
	if err == nil {
		err = json.Unmarshal(noted.ReplaceAll(text, nil), &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out["complete"] != true || out["runs"] != float64(runs) {
		t.Errorf("%v runs were made, complete: %v", out["runs"], out["complete"])
	}
	delete(out, "elapsed")
	delete(out, "slowest")
	return out
}
