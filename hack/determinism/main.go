// Command determinism makes the record of runs in docs/determinism.md:
//
//	go run ./hack/determinism    # or: make determinism
//
// Each program of the package determinism makes the runs of one seed in several processes, whose
// settings differ: on an idle machine and next to two busy loops, pinned to one CPU or not, with
// GOMAXPROCS 1 or 8, and under the race detector. The digest of each run is compared with that of
// the first process. That process makes each run twice. The flags -groups and -runs bound the
// record. A process that is done is not started again, so the command can be stopped and continued.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// setting is how a process makes its runs.
type setting struct {
	Name     string `json:"name"`
	Race     bool   `json:"race"`
	CPUs     string `json:"cpus"` // that the process is pinned to
	MaxProcs int    `json:"maxprocs"`
	Busy     bool   `json:"busy"` // next to two busy loops
	Part     int    `json:"part"` // it makes one of so many runs: the first ones
}

// settings are those of one group. The first process makes each run twice, and the others are
// compared with it.
var settings = []setting{
	{"idle", false, "0,1", 8, false, 1},
	{"one CPU", false, "0", 1, false, 1},
	{"busy", false, "0,1", 1, true, 1},
	{"busy, one CPU", false, "1", 8, true, 1},
	{"race", true, "0,1", 8, false, 5},
}

// batch is the part of the runs that one process makes.
type batch struct {
	Program string `json:"program"`
	Group   int    `json:"group"` // its seed
	Setting int    `json:"setting"`
	Wanted  int    `json:"wanted"` // runs
}

func (b batch) file(out string) string {
	return filepath.Join(out, fmt.Sprintf("%s-%02d-%d.json", b.Program, b.Group, b.Setting))
}

// processes run at once, one for each CPU.
const processes = 2

// runsOf is how many runs a process makes. Programs whose runs take long make fewer.
func runsOf(program string) int {
	switch program {
	case "ClientGoLeaderElection":
		return 50
	case "Webhooks", "BuiltinControllers", "SeveralNamespaces", "EventSeries":
		return 100
	case "ParallelRequests":
		return 250
	}
	return 450
}

// plan lists the batches, those next to busy loops last.
func plan(programs []string, groups, runs int) (idle, busy []batch) {
	for g := range groups {
		for i, s := range settings {
			for _, p := range programs {
				b := batch{p, 1 + g, i, max(1, min(runs, runsOf(p))/s.Part)}
				if s.Busy {
					busy = append(busy, b)
				} else {
					idle = append(idle, b)
				}
			}
		}
	}
	return idle, busy
}

// binary is the test binary, with or without the race detector.
func binary(race bool) string {
	if race {
		return filepath.Join("bin", "determinism-race.test")
	}
	return filepath.Join("bin", "determinism.test")
}

func main() {
	log.SetFlags(0)
	out := flag.String("out", "reports/out/determinism", "where each process leaves its outcome, by commit")
	groups := flag.Int("groups", 10, "how many seeds each program gets")
	runs := flag.Int("runs", 1000, "how many runs a process makes at most")
	spin := flag.Bool("spin", false, "be a busy loop")
	flag.Parse()
	for parent := os.Getppid(); *spin; {
		if os.Getppid() != parent {
			return // the record has ended
		}
	}
	commit := output("git", "rev-parse", "--short", "HEAD")
	dir := filepath.Join(*out, commit)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		log.Fatal(err)
	}
	for _, race := range []bool{false, true} {
		output("go", "test", "-c", "-vet=off", fmt.Sprint("-race=", race), "-o", binary(race),
			"./sim/internal/determinism")
	}
	var programs []string
	for line := range strings.Lines(output(binary(false), "-test.list=^Test")) {
		programs = append(programs, strings.TrimPrefix(strings.TrimSpace(line), "Test"))
	}
	idle, busy := plan(programs, *groups, *runs)
	p := &progress{began: time.Now(), total: len(idle) + len(busy)}
	p.makeAll(idle, dir)
	stop := loops()
	p.makeAll(busy, dir)
	stop()
	if err := report(append(idle, busy...), dir, commit); err != nil {
		log.Fatal(err)
	}
}

// loops starts a busy loop for each CPU and returns the function that ends them.
func loops() (stop func()) {
	self, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	var all []*exec.Cmd
	for range processes {
		loop := exec.Command(self, "-spin")
		if err := loop.Start(); err != nil {
			log.Fatal(err)
		}
		all = append(all, loop)
	}
	return func() {
		for _, loop := range all {
			_ = loop.Process.Kill()
			_ = loop.Wait()
		}
	}
}

// progress prints from time to time how many batches have been made.
type progress struct {
	mu    sync.Mutex
	began time.Time
	shown time.Time
	total int
	done  int
}

// makeAll makes the batches that have not been made.
func (p *progress) makeAll(all []batch, dir string) {
	var wg sync.WaitGroup
	next := make(chan batch)
	for range processes {
		wg.Go(func() {
			for b := range next {
				p.run(b, dir)
			}
		})
	}
	for _, b := range all {
		next <- b
	}
	close(next)
	wg.Wait()
}

// run makes one batch. A process that fails still leaves its outcome with the number of pairs that
// differ. If there is none, run prints the output of the process and ends the program.
func (p *progress) run(b batch, dir string) {
	file, s := b.file(dir), settings[b.Setting]
	if _, err := os.Stat(file); err != nil {
		half, bin := absolute(file+".part"), absolute(binary(s.Race))
		load := strings.Fields(read("/proc/loadavg"))[0]
		cmd := exec.Command("taskset", "-c", s.CPUs, bin, "-test.run=^Test"+b.Program+"$", "-test.timeout=0",
			fmt.Sprint("-determinism.pairs=", b.Wanted), fmt.Sprint("-determinism.seed=", b.Group),
			fmt.Sprint("-determinism.double=", b.Setting == 0), "-determinism.record="+half)
		cmd.Dir = filepath.Join("sim", "internal", "determinism")
		cmd.Env = append(os.Environ(), fmt.Sprint("GOMAXPROCS=", s.MaxProcs))
		printed, failed := cmd.CombinedOutput()
		if err := keep(b, half, file, load); err != nil {
			log.Fatalf("%s left no outcome: %v, %v\n%s", file, failed, err, printed)
		}
		if failed != nil {
			log.Printf("%s: %v", file, failed)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if time.Since(p.shown) > 30*time.Second || p.done == p.total {
		p.shown = time.Now()
		took := time.Since(p.began)
		left := took / time.Duration(p.done) * time.Duration(p.total-p.done)
		log.Printf("%d of %d processes, %v left", p.done, p.total, left.Round(time.Second))
	}
}

func absolute(file string) string {
	path, err := filepath.Abs(file)
	if err != nil {
		log.Fatal(err)
	}
	return path
}

func output(name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		log.Fatalf("%s: %v", cmd, err)
	}
	return strings.TrimSpace(string(out))
}

func read(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	return string(b)
}
