package process

import (
	"crypto/fips140"
	cryptorand "crypto/rand"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/cryptotest"
)

// randomBytes is crypto/rand.Reader during a run. Each goroutine reads a stream of its own. Go's
// runtime takes the CPU from a goroutine after 10 ms, and generating an RSA key takes longer. If
// goroutines that generate keys read one stream, real time would decide which key gets which bytes.
//
// Code that keeps a copy of crypto/rand.Reader from before the run, such as github.com/google/uuid,
// reads one stream for all goroutines. Package cryptotest seeds it.
type randomBytes struct {
	t    *testing.T
	seed uint64

	mu       sync.Mutex
	reseeded uint64   // how many times
	from     uint64   // the seed since then
	quiet    []uint64 // the newest goroutine at each quiet moment at which there was a new one
	groups   map[cohort]uint64
	begun    map[string]uint64  // how many groups there are, by function
	streams  map[uint64]*stream // by goroutine
}

// cohort are the goroutines that a goroutine has begun between two quiet moments by one function.
type cohort struct {
	function, parent string
	phase            int
}

// random is what the run under way reads.
var random *randomBytes

// readRandom makes crypto/rand return bytes that come from a seed. Functions like rsa.GenerateKey
// read from the crypto/rand.Reader that they are given only if GODEBUG has cryptocustomrand=1,
// which [Enter] sets. In FIPS 140-3 mode they refuse other readers than Go's own, so all goroutines
// read the stream of package cryptotest.
func readRandom(t *testing.T, seed uint64) *randomBytes {
	r := &randomBytes{t: t, seed: seed}
	for range numbersOfAProcessor {
		newestGoroutine()
	}
	r.quieten()
	r.reseed(seed)
	return r
}

// numbersOfAProcessor is how many numbers of goroutines Go's runtime gives a processor at a time
// (_GoidCacheBatch in runtime/proc.go). A run has one processor. Once that has used up the numbers
// that it had from before the run, those of new goroutines follow one another.
const numbersOfAProcessor = 16

// newestGoroutine begins a goroutine and returns its number.
func newestGoroutine() uint64 {
	newest := make(chan uint64)
	go func() { newest <- goroutine() }()
	return <-newest
}

// reseed begins new streams.
func (r *randomBytes) reseed(seed uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.from = r.seed ^ rand.NewPCG(seed, r.reseeded).Uint64()
	r.reseeded++
	r.groups, r.begun, r.streams = map[cohort]uint64{}, map[string]uint64{}, map[uint64]*stream{}
	cryptotest.SetGlobalRandom(r.t, r.from)
	if !fips140.Enabled() {
		cryptorand.Reader = r
	}
}

// quieten notes that all goroutines are blocked: those that begin from now on belong together.
func (r *randomBytes) quieten() {
	r.quiet = append(r.quiet, newestGoroutine())
}

// Quiet says that all goroutines of the run under way are blocked.
func Quiet() { random.quieten() }

func (r *randomBytes) Read(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := goroutine()
	s := r.streams[id]
	if s == nil {
		s = r.begin(id)
		r.streams[id] = s
	}
	s.read(b)
	return len(b), nil
}

// goroutine is the number of the calling goroutine. Numbers grow in the order in which goroutines
// begin.
func goroutine() (id uint64) {
	var stack [32]byte
	for _, c := range stack[len("goroutine "):runtime.Stack(stack[:], false)] {
		if c == ' ' {
			break
		}
		id = 10*id + uint64(c-'0')
	}
	return id
}

// begin makes the stream of the calling goroutine. It depends on the run's seed, on the function
// that began the goroutine, on how many groups of that function have read before, and on which
// goroutine of the group it is. It does not depend on which of the group reads first.
func (r *randomBytes) begin(id uint64) *stream {
	stack := make([]byte, 1<<16)
	_, by, _ := strings.Cut(string(stack[:runtime.Stack(stack, false)]), "\ncreated by ")
	by, _, _ = strings.Cut(by, "\n")
	g := cohort{}
	g.function, g.parent, _ = strings.Cut(by, " in goroutine ")
	g.phase, _ = slices.BinarySearch(r.quiet, id)
	nth, known := r.groups[g]
	if !known {
		nth = r.begun[g.function]
		r.groups[g] = nth
		r.begun[g.function]++
	}
	seeds := rand.NewPCG(r.from, nth)
	if g.phase > 0 {
		seeds = rand.NewPCG(seeds.Uint64(), id-r.quiet[g.phase-1])
	}
	for _, c := range []byte(g.function) {
		seeds = rand.NewPCG(seeds.Uint64(), uint64(c))
	}
	return &stream{seed: seeds.Uint64()}
}

// stream is what one goroutine reads.
type stream struct {
	seed   uint64
	reads  uint64    // of more than one byte
	single *rand.PCG // single bytes since the last of these
}

// read fills b. Before they read, functions of crypto read a single byte, or do not: Go's runtime
// throws a coin (crypto/internal/randutil.MaybeReadByte). So what is read next does not depend on
// how many single bytes were read.
func (s *stream) read(b []byte) {
	if len(b) == 1 {
		if s.single == nil {
			s.single = rand.NewPCG(s.seed, s.reads)
		}
		b[0] = byte(s.single.Uint64())
		return
	}
	s.reads, s.single = s.reads+1, nil
	next := rand.NewPCG(^s.seed, s.reads)
	for i := 0; i < len(b); i += 8 {
		word := next.Uint64()
		for j := i; j < min(i+8, len(b)); j++ {
			b[j] = byte(word)
			word >>= 8
		}
	}
}
