package child

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Launcher says how incarnations are started.
type Launcher struct {
	// Command returns the command that starts one.
	Command func() *exec.Cmd
	// Launch is what all incarnations have in common.
	Launch Launch
	// Refused is called if one cannot be had. It does not return.
	Refused func(why string)
}

// Carrier sends a request to the network and passes on what comes back. It returns when the request
// or its stream has ended.
type Carrier func(ctx context.Context, s wire.Sent, answer func(wire.Answer))

// Process is the process of an incarnation.
type Process struct {
	*Link
	cmd     *exec.Cmd
	pipes   []*os.File
	tmp     string // its temporary files
	output  tail
	reports chan *Report
	gone    chan struct{} // closed when the process has ended
	arrived atomic.Int64

	mu      sync.Mutex
	cancels map[int64]context.CancelFunc
}

// Start starts a process. ended is called when it has ended, on a goroutine of its own.
func Start(cmd *exec.Cmd, carry Carrier, ended func()) (*Process, error) {
	p := &Process{cmd: cmd, reports: make(chan *Report, 1), gone: make(chan struct{}),
		cancels: map[int64]context.CancelFunc{}}
	if err := p.start(); err != nil {
		_ = os.RemoveAll(p.tmp) // it is empty
		return nil, err
	}
	go p.read(carry)
	go func() {
		_ = p.cmd.Wait() // however it ends
		close(p.gone)
		ended()
	}()
	return p, nil
}

func (p *Process) start() error {
	tmp, err := os.MkdirTemp("", "incarnation")
	if err != nil {
		return err
	}
	p.tmp = tmp
	p.cmd.Env = append(p.cmd.Env, "TMPDIR="+tmp)
	childIn, in, err := os.Pipe()
	if err != nil {
		return err
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		return errors.Join(err, childIn.Close(), in.Close())
	}
	p.cmd.ExtraFiles = []*os.File{childIn, childOut}
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	err = p.cmd.Start()
	_, _ = childIn.Close(), childOut.Close() // the child has its own
	p.pipes, p.Link = []*os.File{in, out}, newLink(out, in)
	if err != nil {
		return errors.Join(err, in.Close(), out.Close())
	}
	return nil
}

func (p *Process) read(carry Carrier) {
	for {
		m, err := p.Receive()
		if err != nil {
			return
		}
		switch {
		case m.Sent != nil:
			ctx, cancel := context.WithCancel(context.Background())
			p.mu.Lock()
			p.cancels[m.Sent.ID] = cancel
			p.mu.Unlock()
			p.arrived.Add(1)
			go func() {
				carry(ctx, *m.Sent, func(a wire.Answer) {
					_ = p.Send(Message{Answer: &a}) // the incarnation may have ended
				})
				p.cancel(m.Sent.ID)
			}()
		case m.Cancel != 0:
			p.cancel(m.Cancel)
		case m.Report != nil:
			p.reports <- m.Report
		}
	}
}

func (p *Process) cancel(id int64) {
	p.mu.Lock()
	cancel := p.cancels[id]
	delete(p.cancels, id)
	p.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// Arrived is how many requests the program has sent.
func (p *Process) Arrived() int64 { return p.arrived.Load() }

// Ask sends a message and waits for a report; nil if none comes.
func (p *Process) Ask(m Message, limit time.Duration) *Report {
	_ = p.Send(m) // if the process has ended there is no report
	select {
	case r := <-p.reports:
		return r
	case <-p.gone:
		select {
		case r := <-p.reports:
			return r
		default:
		}
	case <-time.After(limit):
	}
	return nil
}

// Terminate sends SIGTERM. The incarnation takes it at its next turn.
func (p *Process) Terminate() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	time.Sleep(10 * time.Millisecond)
}

// Stop kills the process. The text is how it ended, and what it has printed.
func (p *Process) Stop() (text string) {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.gone
	return p.cmd.ProcessState.String() + "\n" + p.Output()
}

// Kill ends the process, and removes what it has left.
func (p *Process) Kill() {
	p.Stop()
	for _, f := range p.pipes {
		_ = f.Close() // nothing is sent any more
	}
	_ = os.RemoveAll(p.tmp) // as much as can be
}

// Output is the end of what the process has printed.
func (p *Process) Output() string { return p.output.String() }

// tail keeps the end of what is written. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const maxTail = 4000

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Write(p)
	t.text.Next(max(0, t.text.Len()-maxTail))
	return len(p), nil
}

// String implements fmt.Stringer.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.text.String())
}
