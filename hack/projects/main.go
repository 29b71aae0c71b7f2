// Command projects measures wavetank init on the projects of cmd/wavetank/internal/project, which
// follow the documentation of kubebuilder and operator-sdk, and writes docs/projects.md:
//
//	go run ./hack/projects    # or: make projects
//
// Each project is laid out in a directory of its own and is not edited. The first copy fills the
// build cache. On the second copy it measures wavetank init and, if that found nothing, 1,000 runs
// of each test that it wrote. The page shows the last measurement of each project; -run measures
// some of them again.
package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	projects = "cmd/wavetank/internal/project"
	scaffold = "kubebuilder" // what all projects share
	module   = "github.com/wavetank/wavetank"
)

// measuredFile is what was measured last, by project.
//
//go:embed measured.json
var measuredFile []byte

// measured is what one project gave.
type measured struct {
	Project           string
	Tests, Lines      int // that init wrote; the lines of the longest
	Guesses           int
	Runs              int // without a finding, of the test that made the fewest
	AllFailed         []string
	Findings          []string // the properties that broke
	Seconds, CPU      float64  // of init and of the runs together
	LoadAtStart, Load float64
	Failed            string // what went wrong otherwise
}

func main() {
	log.SetFlags(0)
	warm := flag.Bool("warm", true, "fill the build cache first")
	only := flag.String("run", "", "projects that match this regular expression")
	write := flag.String("write", "docs/projects.md", "page to write")
	flag.Parse()
	root, err := filepath.Abs(".")
	if err != nil {
		log.Fatal(err)
	}
	out := filepath.Join(root, "reports", "out", "projects")
	if err := errors.Join(os.RemoveAll(out), os.MkdirAll(out, 0o777)); err != nil {
		log.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", out, "./cmd/wavetank", "./"+projects+"/lay")
	if text, err := build.CombinedOutput(); err != nil {
		log.Fatalf("%v\n%s", err, text)
	}
	archives, err := filepath.Glob(filepath.Join(projects, "*.txtar"))
	if err != nil {
		log.Fatal(err)
	}
	all := map[string]measured{}
	if err := json.Unmarshal(measuredFile, &all); err != nil {
		log.Fatal(err)
	}
	for _, archive := range archives {
		name := strings.TrimSuffix(filepath.Base(archive), ".txtar")
		if ok, err := regexp.MatchString(*only, name); err != nil || !ok || name == scaffold {
			continue
		}
		if *warm {
			if _, err := measure(root, out, name, filepath.Join(out, "warm"), 1); err != nil {
				log.Fatal(err)
			}
		}
		m, err := measure(root, out, name, filepath.Join(out, name), 1000)
		if err != nil {
			log.Fatal(err)
		}
		data, _ := json.Marshal(m)
		log.Printf("%s", data)
		all[m.Project] = m
		if data, err = json.MarshalIndent(all, "", "  "); err == nil {
			err = os.WriteFile("hack/projects/measured.json", append(data, '\n'), 0o666)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	if unexamined, err := writePage(*write, all); err != nil || unexamined > 0 {
		log.Fatalf("%d findings are not examined in hack/projects/examined.json; %v", unexamined, err)
	}
}

// measure lays out a project and makes the runs. The commands are in bin.
func measure(root, bin, name, dir string, runs int) (m measured, err error) {
	m = measured{Project: name, LoadAtStart: load()}
	if err := os.RemoveAll(dir); err != nil {
		return m, err
	}
	if text, err := exec.Command(filepath.Join(bin, "lay"), name, dir).CombinedOutput(); err != nil {
		return m, fmt.Errorf("%w\n%s", err, text)
	}
	command := filepath.Join(bin, "wavetank")
	log.Printf("%s: load %.1f", name, m.LoadAtStart)
	// A stranger's go.mod would get a version; this one gets the checkout.
	edit := exec.Command("go", "mod", "edit", "-replace="+module+"="+root, "-require="+module+"@v0.1.0",
		"-replace="+module+"/sim/simginkgo="+filepath.Join(root, "sim", "simginkgo"),
		"-require="+module+"/sim/simginkgo@v0.1.0")
	edit.Dir = dir
	if text, err := edit.CombinedOutput(); err != nil {
		return m, fmt.Errorf("%w\n%s", err, text)
	}
	text, code := m.run(dir, command, "init")
	m.read(text)
	if m.Tests == 0 || code > 1 {
		m.Failed = "wavetank init failed: " + strings.TrimSpace(text)
	}
	if m.Lines, err = longest(dir); err != nil {
		return m, err
	}
	if len(m.Findings) == 0 && len(m.AllFailed) == 0 && m.Failed == "" {
		text, code := m.run(dir, command, "run", "./...", "--runs", strconv.Itoa(runs))
		m.read(text)
		if code > 1 {
			m.Failed = "wavetank run failed: " + strings.TrimSpace(text[max(0, len(text)-500):])
		}
	}
	m.Load = load()
	return m, os.WriteFile(dir+".json", []byte(fmt.Sprintf("%+v\n", m)), 0o666)
}

// run runs the command and adds up what it used.
func (m *measured) run(dir, command string, args ...string) (text string, code int) {
	cmd := exec.Command(command, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	began := time.Now()
	data, err := cmd.CombinedOutput()
	m.Seconds += time.Since(began).Seconds()
	if cmd.ProcessState == nil {
		return err.Error(), 2
	}
	m.CPU += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	name := fmt.Sprintf("%s.%s.txt", dir, args[0])
	if err := os.WriteFile(name, data, 0o666); err != nil {
		return err.Error(), 2
	}
	return string(data), cmd.ProcessState.ExitCode()
}

var (
	writtenTest = regexp.MustCompile(`(?m)_sim_test\.go: written$`)
	guess       = regexp.MustCompile(`(?m)^  guess: `)
	allFailed   = regexp.MustCompile(`every reconcile of process "([^"]+)" failed.*|the world has no host "[^"]+"|` +
		`[A-Z]\w+ \S+ never became ready: [^;]*`)
	broken = regexp.MustCompile(`(?:always|eventually) "([^"]+)" broke at step`)
	quiet  = regexp.MustCompile(`nothing broke in (\d+) runs|: (\d+) runs`)
)

// read adds what a command said.
func (m *measured) read(text string) {
	m.Tests += len(writtenTest.FindAllString(text, -1))
	m.Guesses += len(guess.FindAllString(text, -1))
	for _, f := range allFailed.FindAllStringSubmatch(text, -1) {
		m.AllFailed = append(m.AllFailed, f[0])
	}
	seen := map[string]bool{}
	for _, f := range broken.FindAllStringSubmatch(text, -1) {
		if !seen[f[1]] {
			m.Findings = append(m.Findings, f[1])
		}
		seen[f[1]] = true
	}
	m.Runs = 0
	for _, q := range quiet.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(q[1] + q[2])
		if m.Runs == 0 || n < m.Runs {
			m.Runs = n
		}
	}
}

// longest is the length of the longest file that init wrote.
func longest(dir string) (lines int, err error) {
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_sim_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		lines = max(lines, strings.Count(string(data), "\n"))
		return err
	})
	return lines, err
}

// load is the load average of the last minute; 0 where the system does not say.
func load() float64 {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(data), " ")
	n, _ := strconv.ParseFloat(first, 64)
	return n
}
