// Package outlive writes package variables in the ways that operators do.
package outlive

import (
	"sync"
	"sync/atomic"

	"ctrl/manager"
	"ctrl/reconcile"
)

type cache struct {
	mu    sync.Mutex
	items map[string]int
}

func (c *cache) put(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items[name]++
}

var (
	once     sync.Once
	seen     = map[string]bool{}
	attempts int
	total    atomic.Int64
	shared   = &cache{items: map[string]int{}}
	settings struct{ Limits struct{ CPU int } }
	inWorker string
	emptied  = map[string]bool{}
	byPtr    int

	mu       sync.Mutex // locks are left as they were found
	prefix   = "x"      // is only read
	atInit   = map[string]bool{}
	inMain   int // is written by what no process of a run calls
	replaced int // is shadowed
)

func init() { atInit["a"] = true }

// Flags is what main calls.
func Flags() { inMain = 1 }

// Setup is a setup function.
func Setup(mgr manager.Manager) error {
	once.Do(func() {})
	settings.Limits.CPU = 2
	return mgr.Add(&worker{})
}

type worker struct{ last string }

// Start is called by the manager.
func (w *worker) Start() {
	w.last = prefix
	inWorker = w.last
}

// Reconciler reconciles.
type Reconciler struct{ own map[string]bool }

// Reconcile leads to writes.
func (r *Reconciler) Reconcile(req reconcile.Request) error {
	mu.Lock()
	defer mu.Unlock()
	replaced := map[string]bool{}
	replaced[req.Name], r.own[req.Name] = true, true
	seen[req.Name] = true
	total.Add(1)
	shared.put(req.Name)
	clear(emptied)
	fill(&byPtr)
	return retry(func() { attempts++ })
}

func fill(p *int) { *p = 1 }

func retry(f func()) error {
	f()
	return nil
}
