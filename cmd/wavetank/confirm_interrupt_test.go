//go:build conformance && linux

package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// printed collects what a process prints. It is safe for concurrent use.
type printed struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (p *printed) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.Write(text)
}

// String returns what was printed so far.
func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.String()
}

// A wavetank confirm that is interrupted or killed leaves no process, no port and no directory, be
// it while the control plane starts or in the middle of a story. If the starter of the control
// plane is killed, etcd and kube-apiserver end, too.
func TestInterruptedConfirmLeavesNothing(t *testing.T) {
	command := filepath.Join(t.TempDir(), "wavetank")
	if out, err := exec.Command("go", "build", "-o", command, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	story, err := filepath.Abs("../../scenarios/throttle/testdata/catalogue/no-zombie--V4w.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		when   func(tmp, printed string) bool
		signal syscall.Signal
		victim string // whose command line has this
		args   []string
	}{
		{"interrupted at the start", etcdRuns, syscall.SIGINT, command, nil},
		{"interrupted in a story", inStory, syscall.SIGINT, command, nil},
		{"killed in a story", inStory, syscall.SIGKILL, command, nil},
		{"the starter is killed", inStory, syscall.SIGKILL, "/controlplane\x00", nil},
		{"interrupted with an incarnation", incarnationRuns, syscall.SIGINT, command, []string{"--child"}},
		{"killed with an incarnation", incarnationRuns, syscall.SIGKILL, command, []string{"--child"}},
		{"the test is killed", incarnationRuns, syscall.SIGKILL, ".test\x00", []string{"--child"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tmp := t.TempDir()
			var out printed
			cmd := exec.Command(command, append([]string{"confirm", "-v", story}, c.args...)...)
			cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			await(t, 10*time.Minute, func() string {
				if c.when(tmp, out.String()) {
					return ""
				}
				return "it has not come so far:\n" + out.String()
			})
			ports := listening(tmp)
			if len(ports) == 0 && c.signal == syscall.SIGKILL {
				t.Error("no process of the control plane listens")
			}
			victims := 0
			for pid, line := range processesOf(tmp) {
				of := strings.HasPrefix(line, c.victim) || strings.Contains(line, c.victim) && c.victim != command
				if of && !strings.Contains(line, "-test.testlogfile=\x00") {
					victims++
					_ = syscall.Kill(pid, c.signal) // it may have ended
				}
			}
			if victims == 0 {
				t.Fatalf("no process has %q in its command line: %v", c.victim, processesOf(tmp))
			}
			await(t, time.Minute, func() string { return left(tmp, ports) })
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Error("the command has not ended after a minute")
			}
		})
	}
}

func etcdRuns(tmp, _ string) bool {
	for _, line := range processesOf(tmp) {
		if strings.Contains(line, "/etcd\x00") {
			return true
		}
	}
	return false
}

// incarnationRuns reports whether an incarnation of the operator is a process of its own.
func incarnationRuns(tmp, _ string) bool {
	for _, line := range processesOf(tmp) {
		if strings.Contains(line, "-test.testlogfile=\x00") {
			return true
		}
	}
	return false
}

func inStory(_, printed string) bool { return strings.Contains(printed, "step 1 at ") }

// await waits until there is no complaint.
func await(t *testing.T, limit time.Duration, complaint func() string) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		text := complaint()
		if text == "" {
			return
		}
		if time.Since(began) > limit {
			t.Fatalf("after %v: %s", limit, text)
		}
	}
}

// left returns what a confirmation with a temporary directory has left behind; "" for nothing.
func left(tmp string, ports []string) string {
	for pid, line := range processesOf(tmp) {
		return fmt.Sprintf("process %d still runs: %s", pid, strings.ReplaceAll(line, "\x00", " "))
	}
	if files, _ := os.ReadDir(tmp); len(files) > 0 {
		return files[0].Name() + " is left in the temporary directory"
	}
	for _, port := range ports {
		if c, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			_ = c.Close() // only that it opens matters
			return "port " + port + " is still open"
		}
	}
	return ""
}

// processesOf are the command lines of the processes that have a temporary directory, by process.
func processesOf(tmp string) map[int]string {
	out := map[int]string{}
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		env, err := os.ReadFile(path)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || !strings.Contains(string(env), "TMPDIR="+tmp) || isZombie(pid) {
			continue
		}
		line, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if err == nil {
			out[pid] = string(line)
		}
	}
	return out
}

// listening are the ports in the command lines of etcd and kube-apiserver.
func listening(tmp string) (out []string) {
	flag := regexp.MustCompile(`--(?:secure-port=|listen-client-urls=http://[^:]*:)([0-9]+)`)
	for _, line := range processesOf(tmp) {
		if m := flag.FindStringSubmatch(line); m != nil {
			out = append(out, m[1])
		}
	}
	return out
}
