package process

import (
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"math/rand"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// This file is the list of every package-level variable and process-wide setting that a run
// changes; a test in the root compares it with the code. Enter and Seed below change variables of
// other modules. Each run sets utilruntime.ErrorHandlers, and each incarnation begins with a
// metrics.Registry of its own. [RecordDials] changes runtime.MemProfileRate, and rapid's flags are
// set while rapid makes the choices. A campaign handles SIGINT and SIGTERM. The variables of the
// harness's own say what is going on in the process:
//
//   - sim/internal/world: underWay is the world of the run under way.
//   - sim/internal/process: random is what the run under way reads from crypto/rand.
//   - sim/internal/campaign: oneCampaign is held while a campaign runs, campaigns counts those of
//     each test, commandLine is what package flag has set, and coverage has the campaigns that
//     -sim.coverage has written.
//   - sim/simginkgo: bootstrap is the test that runs the suite.
//
// The others keep what is computed once, and no run can tell whether another has computed it:
//
//   - sim/internal/campaign: build is the fingerprint of the test binary.
//   - sim/internal/definitions: files are those that were read.
//   - sim/internal/process: makeNetChannels makes the channels of package net, and initialRegistry
//     is the metrics.Registry from before the first run.
//   - sim/internal/wire: senders are the lines of stacks that were read, rootOfStandard and modules
//     are about the test binary.
//   - history: copiers are methods of types.
//   - models/admission: compiled and compiler are about match conditions.
//   - models/apiserver: builtinDocuments, builtinDiscovery and protobufDecoder are about built-in
//     kinds, and decoders keep what was decoded from the same bytes.
//   - models/apiserver/internal/object: builtinTypes and definitionTypes are schemas.
//   - models/apiserver/internal/registry: Builtins and Reviews are the built-in kinds, compiled and
//     preparedDefinitions those of definitions.

// Enter prepares the process for runs and returns the function that undoes it.
//
//   - GOMAXPROCS is 1: goroutines of one process would race to its channels otherwise.
//   - GODEBUG randseednop=0: math/rand.Seed has an effect again, for the jitter in client-go.
//   - GODEBUG multipathtcp=1: package net counts the TCP connections that it begins ([Dials]).
//   - GODEBUG cryptocustomrand=1: keys are made from crypto/rand.Reader, which is the run's.
//   - GODEBUG tracebacklabels=1: the stack of a goroutine has the label of its incarnation.
//   - utilruntime.ErrorHandlers is empty until a run sets its own: the rate limiter in it remembers
//     real time and would sleep for virtual decades.
//   - The garbage collector runs when the heap has grown tenfold: worlds are small and short-lived,
//     and the default would collect once or twice in each run. [LimitMemory] bounds that.
//   - klog is silent unless log is given.
//   - http.DefaultTransport leads outside, so that no request can leave the bubble unnoticed;
//     clones of it refuse.
//   - net.DefaultResolver answers from the hosts file alone and refuses everything else.
//
// Channels that package net makes once are made before, as a run must not own them.
func Enter(log logr.Logger, outside Outside) (leave func()) {
	makeNetChannels()
	procs := runtime.GOMAXPROCS(1)
	percent := debug.SetGCPercent(1000)
	godebug, had := os.LookupEnv("GODEBUG")
	os.Setenv(
		"GODEBUG",
		strings.TrimPrefix(godebug+",randseednop=0,multipathtcp=1,cryptocustomrand=1,tracebacklabels=1", ","),
	)
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = nil
	transport := http.DefaultTransport
	http.DefaultTransport = leadingTo(outside)
	resolver := net.DefaultResolver
	net.DefaultResolver = outside.refusing()
	klog.SetLogger(log)
	// Once only: controller-runtime offers no way back, and warns after 30 s of real time when
	// it has not been called.
	ctrllog.SetLogger(log)
	return func() {
		metrics.Registry = initialRegistry
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

// LimitMemory has the garbage collector run more often when the process holds as much memory as the
// limit, in bytes. It returns the function that undoes it. A limit that is there already, as by
// GOMEMLIMIT, is left, and 0 sets none.
func LimitMemory(limit int64) (undo func()) {
	old := debug.SetMemoryLimit(-1)
	if limit <= 0 || old != math.MaxInt64 {
		return func() {}
	}
	debug.SetMemoryLimit(limit)
	return func() { debug.SetMemoryLimit(old) }
}

// leadingTo is a transport of the type that programs expect; some of them clone it to set
// certificates. Its own requests go to next. A request to a clone ends the run.
func leadingTo(next Outside) *http.Transport {
	t := &http.Transport{DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
		next.dialled(ctx, address)
		const message = "sim: %s was dialled by a transport of the program's own; use sim.HTTPClient(mgr)"
		return nil, fmt.Errorf(message, address)
	}}
	for _, scheme := range []string{"http", "https"} {
		t.RegisterProtocol(scheme, next)
	}
	return t
}

// reseed seeds math/rand, apimachinery's names and crypto/rand again. Go's runtime decides in what
// order a process works between its end and its death, and it may draw random numbers there:
// client-go's event recorder chooses at random between the next Event and its end.
func reseed(seed uint64) {
	rand.Seed(int64(seed)) //nolint:staticcheck // as in Seed
	utilrand.Seed(int64(seed))
	random.reseed(seed)
}

// Seed seeds every process-wide random generator with the seed of a run: math/rand for jitter,
// apimachinery's names, crypto/rand for UUIDs (reconcile IDs, lock identities). It panics when t or
// one of its parents is parallel.
func Seed(t *testing.T, seed uint64) {
	rand.Seed(int64(seed)) //nolint:staticcheck // the only way to make other people's top-level calls repeat
	utilrand.Seed(int64(seed))
	random = readRandom(t, seed)
	for range seed % 64 {
		maphash.MakeSeed() // in exact mode, which seeds the runtime's own generator, runs differ in map orders, too
	}
}
