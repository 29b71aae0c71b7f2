package process

import (
	"context"
	"fmt"
	"hash/maphash"
	"math/rand"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/cryptotest"

	"github.com/go-logr/logr"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// This file is the list of every package-level variable and process-wide setting that a run changes. Nothing else in
// the harness may, but for variables of its own that say what is going on in the process:
//
//   - sim/internal/world: current is the world of the run under way.
//   - sim/internal/definitions: files are those that were read.
//   - sim/internal/campaign: running is held while a campaign runs, campaigns counts those of each test, and commandLine is
//     what package flag has set.

// Enter puts the process into the state that runs need and returns the function that undoes it.
//
//   - GOMAXPROCS is 1: programs with goroutines of their own race to their own channels otherwise.
//   - GODEBUG randseednop=0: math/rand.Seed works again, for the jitter in client-go.
//   - GODEBUG multipathtcp=1: package net counts the TCP connections that it begins ([Dials]).
//   - utilruntime.ErrorHandlers is empty: its rate limiter remembers real time and would sleep for virtual decades.
//   - The garbage collector runs when the heap has grown tenfold: worlds are small and short-lived, and the default would
//     collect once or twice in each run.
//   - klog is silent unless log is given.
//   - http.DefaultTransport leads outside, so that no request can leave the bubble unnoticed; clones of it refuse.
//   - net.DefaultResolver answers from the hosts file alone and refuses all else.
//
// Channels that package net makes once are made before: a run must not own them.
func Enter(log logr.Logger, outside Outside) (leave func()) {
	warm()
	procs := runtime.GOMAXPROCS(1)
	percent := debug.SetGCPercent(1000)
	godebug, had := os.LookupEnv("GODEBUG")
	os.Setenv("GODEBUG", strings.TrimPrefix(godebug+",randseednop=0,multipathtcp=1", ","))
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = nil
	transport := http.DefaultTransport
	http.DefaultTransport = leadingTo(outside)
	resolver := net.DefaultResolver
	net.DefaultResolver = outside.refusing()
	klog.SetLogger(log)
	// Once only: controller-runtime offers no way back, and warns after 30 s of real time when nobody has called it.
	ctrllog.SetLogger(log)
	return func() {
		klog.ClearLogger()
		net.DefaultResolver = resolver
		http.DefaultTransport = transport
		utilruntime.ErrorHandlers = handlers
		if had {
			os.Setenv("GODEBUG", godebug)
		} else {
			os.Unsetenv("GODEBUG")
		}
		debug.SetGCPercent(percent)
		runtime.GOMAXPROCS(procs)
	}
}

// leadingTo is a transport of the type that programs expect to find, and some clone to give it certificates
// of their own: what it is asked goes to next, and what a clone is asked ends the run.
func leadingTo(next Outside) *http.Transport {
	t := &http.Transport{DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
		next.dialled(ctx, address)
		return nil, fmt.Errorf("sim: %s was dialled by a transport of the program's own; use sim.HTTPClient(mgr)", address)
	}}
	for _, scheme := range []string{"http", "https"} {
		t.RegisterProtocol(scheme, next)
	}
	return t
}

// reseed sets the dice of math/rand and apimachinery again. What a program does between its end and its death, the
// runtime decides (client-go's event recorder picks at random between the next Event and the end), and it may draw.
func reseed(seed uint64) {
	rand.Seed(int64(seed)) //nolint:staticcheck // as in Seed
	utilrand.Seed(int64(seed))
}

// Seed sets every process-wide die to the seed of a run: math/rand for jitter, apimachinery's names, crypto/rand for
// UUIDs (reconcile IDs, lock identities). It panics when t or one of its parents is parallel.
func Seed(t *testing.T, seed uint64) {
	rand.Seed(int64(seed)) //nolint:staticcheck // the only way to make other people's top-level calls repeat
	utilrand.Seed(int64(seed))
	cryptotest.SetGlobalRandom(t, seed)
	for range seed % 64 {
		maphash.MakeSeed() // where the runtime's own generator can be told (wavetank overlay), runs differ in their map orders, too
	}
}
