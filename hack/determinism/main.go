// Command determinism makes the record of doubled runs in docs/determinism.md:
//
//	go run ./hack/determinism    # or: make determinism
//
// Each program of the package determinism makes its runs in batches, one process for each: one half
// while the machine does nothing else, one half with eight processes at once. Processes are pinned
// to one CPU or to two. A tenth of the batches repeat the seeds of another process, a tenth those
// of another build, and 2,000 runs are made under the race detector. A batch that is done is not
// made again, so the command can be stopped and goes on where it was.
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

// batch is the part of the runs that one process makes.
type batch struct {
	Program string `json:"program"`
	Machine string `json:"machine"` // quiet or busy
	Build   string `json:"build"`   // plain, not inlined, or race
	CPUs    string `json:"cpus"`    // that the process is pinned to
	Seed    int    `json:"seed"`
	Pairs   int    `json:"pairs"`
	N       int    `json:"n"` // counts the batches of a program on one machine
	// Repeats is the number of the batch whose seeds it repeats; -1 for none.
	Repeats int `json:"repeats"`
}

func (b batch) file(out string) string {
	return filepath.Join(out, fmt.Sprintf("%s-%s-%02d.json", b.Machine, b.Program, b.N))
}

const (
	batches   = 20 // of a program on one machine
	racePairs = 150
	processes = 8 // at once on the busy machine
)

// pairsOf is how many runs a batch makes twice. Programs whose runs take long make fewer.
func pairsOf(program string) int {
	switch program {
	case "Webhooks", "BuiltinControllers", "SeveralNamespaces":
		return 100
	case "ParallelRequests":
		return 250
	}
	return 450
}

// plan lists the batches of one machine. Of ten, the eighth repeats the seventh in another build
// and the tenth the ninth in another process.
func plan(programs []string, machine string) (all []batch) {
	for n := range batches {
		for _, p := range programs {
			b := batch{
				Program: p, Machine: machine, Build: "plain", CPUs: "0,1",
				Seed: 1 + n, Pairs: pairsOf(p), N: n, Repeats: -1,
			}
			if machine == "busy" {
				b.Seed += 1000
			}
			if n%4 < 2 {
				b.CPUs = fmt.Sprint(n % 2)
			}
			switch n % 10 {
			case 7:
				b.Build, b.Seed, b.Repeats = "not inlined", b.Seed-1, n-1
			case 9:
				b.Seed, b.Repeats = b.Seed-1, n-1
			}
			all = append(all, b)
		}
	}
	if machine != "quiet" {
		return all
	}
	for _, p := range programs {
		all = append(all, batch{
			Program: p, Machine: machine, Build: "race", CPUs: "0,1",
			Seed: 500, Pairs: racePairs, N: batches, Repeats: -1,
		})
	}
	return all
}

// builds are the test binaries, by the name of the build.
var builds = map[string][]string{"plain": nil, "not inlined": {"-gcflags=all=-l"}, "race": {"-race"}}

func binary(build string) string {
	return filepath.Join("bin", "determinism-"+strings.ReplaceAll(build, " ", "-")+".test")
}

func main() {
	log.SetFlags(0)
	out := flag.String("out", "reports/out/determinism", "where each process leaves its outcome, by commit")
	only := flag.String("machine", "quiet,busy", "which halves to make")
	write := flag.Bool("write", true, "write docs/determinism.md and docs/determinism.json when all is done")
	flag.Parse()
	commit := output("git", "rev-parse", "--short", "HEAD")
	dir := filepath.Join(*out, commit)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		log.Fatal(err)
	}
	for name, flags := range builds {
		args := append([]string{"test", "-c", "-vet=off", "-o", binary(name)}, flags...)
		output("go", append(args, "./determinism")...)
	}
	var programs []string
	for line := range strings.Lines(output(binary("plain"), "-test.list=^Test")) {
		programs = append(programs, strings.TrimPrefix(strings.TrimSpace(line), "Test"))
	}
	all := map[string][]batch{"quiet": plan(programs, "quiet"), "busy": plan(programs, "busy")}
	for machine := range strings.SplitSeq(*only, ",") {
		makeAll(all[machine], dir)
	}
	if *write {
		if err := report(append(all["quiet"], all["busy"]...), dir, commit); err != nil {
			log.Fatal(err)
		}
	}
}

// makeAll makes the batches of one machine that have not been made. On a quiet machine two
// processes that are pinned to one CPU each run side by side, and one that may use both runs alone.
func makeAll(all []batch, dir string) {
	lanes := map[string][]batch{}
	for _, b := range all {
		if _, err := os.Stat(b.file(dir)); err == nil {
			continue
		}
		lane := b.CPUs
		if b.Machine == "busy" {
			lane = "busy"
		}
		lanes[lane] = append(lanes[lane], b)
	}
	p := &progress{began: time.Now()}
	for _, lane := range lanes {
		p.total += len(lane)
	}
	if busy := lanes["busy"]; len(busy) > 0 {
		var wg sync.WaitGroup
		next := make(chan batch)
		for range processes {
			wg.Go(func() { p.drain(next, dir) })
		}
		for _, b := range busy {
			next <- b
		}
		close(next)
		wg.Wait()
		return
	}
	var wg sync.WaitGroup
	for _, lane := range []string{"0", "1"} {
		wg.Go(func() {
			for _, b := range lanes[lane] {
				p.run(b, dir)
			}
		})
	}
	wg.Wait()
	for _, b := range lanes["0,1"] {
		p.run(b, dir)
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

func (p *progress) drain(next <-chan batch, dir string) {
	for b := range next {
		p.run(b, dir)
	}
}

// run makes one batch. A process that fails still leaves its outcome with the number of pairs that
// differ. If there is none, run prints the output of the process and ends the program.
func (p *progress) run(b batch, dir string) {
	file := b.file(dir)
	half, err := filepath.Abs(file + ".part")
	if err != nil {
		log.Fatal(err)
	}
	load := strings.Fields(read("/proc/loadavg"))[0]
	bin, err := filepath.Abs(binary(b.Build))
	if err != nil {
		log.Fatal(err)
	}
	cmd := exec.Command("taskset", "-c", b.CPUs, bin, "-test.run=^Test"+b.Program+"$", "-test.timeout=0",
		fmt.Sprint("-determinism.pairs=", b.Pairs), fmt.Sprint("-determinism.seed=", b.Seed),
		"-determinism.record="+half)
	cmd.Dir = "determinism"
	printed, failed := cmd.CombinedOutput()
	if err := keep(b, half, file, load); err != nil {
		log.Fatalf("%s left no outcome: %v, %v\n%s", file, failed, err, printed)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if failed != nil {
		log.Printf("%s: %v", file, failed)
	}
	if time.Since(p.shown) > 30*time.Second || p.done == p.total {
		p.shown = time.Now()
		took := time.Since(p.began)
		left := took / time.Duration(p.done) * time.Duration(p.total-p.done)
		log.Printf("%d of %d batches, %v left", p.done, p.total, left.Round(time.Second))
	}
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
