package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

const (
	// largeBuild is the number of packages from which a build takes minutes.
	largeBuild = 100
	// logEvery is how often a log gets a line about a build.
	logEvery = 30 * time.Second
	// grace is how long child processes may take to end after an interrupt.
	grace = 1500 * time.Millisecond
)

// testBinary is the binary of a package's tests that is to be built.
type testBinary struct {
	dir   string // where go runs; "" for the working directory
	pkg   string
	path  string   // of the binary
	flags []string // such as -race
}

// errDoesNotBuild is that of a build whose errors have been printed.
var errDoesNotBuild = errors.New("does not build")

// compile builds a test binary and shows how far it is.
func compile(ctx context.Context, errs io.Writer, b testBinary) error {
	total := b.stale(ctx)
	if total >= largeBuild {
		fmt.Fprintf(errs, "a first build takes minutes: %d packages are to be compiled. Go's build cache keeps them, "+
			"so later builds take seconds\n", total)
	}
	p := newProgress(errs, "building the tests of "+b.pkg, total)
	switch err := b.build(ctx, p); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		fmt.Fprintf(errs, "interrupted: %d of %d packages were compiled, and Go's build cache keeps them; the next "+
			"build continues there\n", p.done.Load(), total)
		return errInterrupted
	}
	cmd := b.command(ctx) // once more, for the errors without the commands
	cmd.Stdout, cmd.Stderr = errs, errs
	if runInGroup(ctx, cmd) == nil {
		return nil
	}
	return fmt.Errorf("the tests of %s: %w", b.pkg, errDoesNotBuild)
}

// build makes the binary, and counts the packages that are compiled.
func (t testBinary) build(ctx context.Context, p *progress) error {
	cmd := t.command(ctx, "-x") // go test has no flag that shows packages as they are compiled
	commands, said := io.Pipe()
	cmd.Stderr = said
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		p.count(commands)
	}()
	stop := p.watch()
	err := runInGroup(ctx, cmd)
	stop()
	said.Close()
	<-counted
	return err
}

// command builds the binary, without debug information: that saves a quarter of the time to link.
// A user's own flags for the linker stay.
func (t testBinary) command(ctx context.Context, more ...string) *exec.Cmd {
	args := append([]string{"test", "-c", "-o", t.path}, more...)
	own, _ := exec.CommandContext(ctx, "go", "env", "GOFLAGS").Output()
	if !strings.Contains(strings.Join(append(t.flags[:len(t.flags):len(t.flags)], string(own)), " "), "-ldflags") {
		args = append(args, "-ldflags=-w")
	}
	cmd := exec.CommandContext(ctx, "go", append(append(args, t.flags...), t.pkg)...)
	cmd.Dir = t.dir
	return cmd
}

// stale is the number of packages that are to be compiled; 0 if it is not known.
func (t testBinary) stale(ctx context.Context) int {
	args := append([]string{"list", "-e", "-test", "-deps", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}"}, t.flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, t.pkg)...)
	cmd.Dir = t.dir
	data, err := cmd.Output()
	if err != nil {
		return 0
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		if path := strings.TrimSpace(line); path != "" {
			n++
		}
	}
	return n
}

// progress shows how far a build is: on a terminal with a bar, in a log by a line now and then.
type progress struct {
	out   io.Writer
	what  string
	total int // packages that are to be compiled; 0 if that is not known
	done  atomic.Int64
	began time.Time
	bar   *progressbar.ProgressBar // nil in a log
}

func newProgress(out io.Writer, what string, total int) *progress {
	p := &progress{out: out, what: what, total: total, began: time.Now()}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(max(total, 1), progressbar.OptionSetWriter(out), progressbar.OptionSetWidth(20),
			progressbar.OptionSetPredictTime(false), progressbar.OptionClearOnFinish())
	} else {
		fmt.Fprintf(out, "%s\n", what)
	}
	return p
}

// line says how far the build is after some time, with an estimate from the first third on.
func (p *progress) line(took time.Duration) string {
	done := int(p.done.Load())
	took = took.Round(time.Second)
	if p.total == 0 {
		return fmt.Sprintf("%s: %d packages compiled, %v", p.what, done, took)
	}
	done = min(done, p.total)
	line := fmt.Sprintf("%s: %d of %d packages compiled, %v", p.what, done, p.total, took)
	switch {
	case done == p.total:
		return line + ", linking"
	case 3*done >= p.total:
		left := time.Duration(float64(took) / float64(done) * float64(p.total-done))
		return fmt.Sprintf("%s, about %v left", line, left.Round(time.Second))
	}
	return line
}

// watch shows the progress until the function that it returns is called.
func (p *progress) watch() (stop func()) {
	every := logEvery
	if p.bar != nil {
		every = watchEvery
	}
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticks := time.NewTicker(every)
		defer ticks.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticks.C:
				p.show()
			}
		}
	}()
	return func() {
		close(ended)
		<-stopped
		if p.bar != nil {
			_ = p.bar.Finish()
		}
	}
}

func (p *progress) show() {
	line := p.line(time.Since(p.began))
	if p.bar == nil {
		fmt.Fprintln(p.out, line)
		return
	}
	p.bar.Describe(line)
	_ = p.bar.Set(min(int(p.done.Load()), p.total))
}

// compilation is a command of go build -x that compiles a package.
var compilation = regexp.MustCompile(`[/\\]compile(\.exe)?"? -o \S+ .*-p \S`)

// count counts the packages that are compiled, until there are no more commands.
func (p *progress) count(commands io.Reader) {
	for r := bufio.NewReader(commands); ; {
		line, err := r.ReadString('\n')
		if compilation.MatchString(line) {
			p.done.Add(1)
		}
		if err != nil {
			return
		}
	}
}
