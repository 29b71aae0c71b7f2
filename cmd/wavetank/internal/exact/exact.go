// Package exact makes an overlay of the Go runtime that removes chance from testing/synctest
// bubbles.
//
//   - A generator that belongs to the bubble, with the same seed in each, decides which ready case
//     a select takes, the order of timers of one instant, and math/rand/v2.
//   - The start of a map range depends on the bubble's time alone.
//   - A goroutine is not preempted for having run too long, for a system call of less than a
//     second, or to help the garbage collector.
//   - Hash functions have the same seed in every process.
//   - A socket that connects asks net.DefaultResolver first. A run of sim refuses it there.
//
// The overlay is made from the user's own GOROOT, for go test -overlay. It is for tests only: a
// program that is built with it has no secrets. A Go version whose runtime is not the expected one
// is refused.
//
// The overlay does not cover system calls of more than a second, what the collector frees
// (sync.Pool, weak pointers, finalizers), the amount of memory, and the order of maps whose keys
// are pointers, which depends on addresses. It does not cover several CPUs either; a run does not
// use them.
package exact

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// versions has the edits for each minor version of Go whose runtime was read. The sources of chance
// in 1.27 are those of 1.26. A minor version that reads otherwise gets edits of its own.
var versions = map[string][]edit{"go1.26": edits, "go1.27": edits}

// release is a released version of Go and its minor version.
var release = regexp.MustCompile(`^(go1\.\d+)(\.\d+)?$`)

// editsOf are the edits for a version of Go.
func editsOf(version string) ([]edit, error) {
	if m := release.FindStringSubmatch(version); m != nil && versions[m[1]] != nil {
		return versions[m[1]], nil
	}
	known := slices.Sorted(maps.Keys(versions))
	return nil, fmt.Errorf("exact mode knows the runtimes of %s, not that of %s; run without it",
		strings.Join(known, " and "), version)
}

// edit replaces a text in a source file, which must occur exactly so many times.
type edit struct {
	file     string // below GOROOT/src
	times    int
	old, new string
}

var edits = []edit{
	// A generator in each bubble: splitmix64 (Steele and others, OOPSLA 2014).
	{"runtime/synctest.go", 1, "\tactive  int // other sources of activity\n}\n",
		`	active  int // other sources of activity

	random uint64
}

//go:nosplit
func (bubble *synctestBubble) rand() uint64 {
	return scramble(atomic.Xadd64(&bubble.random, -0x61c8864680b583eb))
}

//go:nosplit
func scramble(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
`},
	// Hash seeds are all the same, because the number of maps that a run makes depends on the
	// collector.
	{"internal/runtime/maps/map.go", 4, "m.seed = uintptr(rand())", "m.seed = 0x1c8864680b583eb"},
	{"internal/sync/hashtriemap.go", 1, "ht.seed = uintptr(runtime_rand())", "ht.seed = 0x1c8864680b583eb"},
	// The start of a map range depends on the time in the bubble alone. The number of ranges before
	// it would depend on what earlier runs of the process have left in caches.
	{"runtime/rand.go", 1, "func maps_rand() uint64 {\n", `func maps_rand() uint64 {
	if bubble := getg().bubble; bubble != nil {
		return scramble(uint64(bubble.now))
	}
`},
	// math/rand/v2 and hash/maphash.
	{"runtime/rand.go", 1, "func rand() uint64 {\n", `func rand() uint64 {
	if bubble := getg().bubble; bubble != nil {
		return bubble.rand()
	}
`},
	// The process's own generator, from which the keys of the hash functions come.
	{"runtime/rand.go", 1, "\tglobalRand.state.Init(*seed)\n", `	for i := range seed {
		seed[i] = byte(i)
	}
	globalRand.state.Init(*seed)
`},
	// select.
	{"runtime/select.go", 1, "\t\tj := cheaprandn(uint32(norder + 1))\n", `		j := cheaprandn(uint32(norder + 1))
		if gp.bubble != nil {
			j = uint32(gp.bubble.rand() % uint64(norder+1))
		}
`},
	// Timers of one instant.
	{"runtime/time.go", 1, "\t\t\tt.rand = cheaprand()\n", "\t\t\tt.rand = uint32(getg().bubble.rand())\n"},
	// Time slices.
	{"runtime/proc.go", 1, "const forcePreemptNS = 10 * 1000 * 1000 // 10ms\n",
		"const forcePreemptNS = 3600 * 1000 * 1000 * 1000\n"},
	// System calls: a goroutine keeps its processor for a second, however slow the machine is.
	// After that it goes to the back of the queue, so that a call that blocks does not block the
	// others.
	{"runtime/proc.go", 1,
		"if runqempty(pp) && sched.nmspinning.Load()+sched.npidle.Load() > 0 && pd.syscallwhen+10*1000*1000 > now {\n",
		"if pd.syscallwhen+1000*1000*1000 > now {\n"},
	// Assists: a goroutine that allocates much does not wait for the collector.
	{"runtime/mgcmark.go", 1, "\tif gp := getg(); gp.bubble != nil {\n", `	if getg().bubble != nil {
		return
	}

	if gp := getg(); gp.bubble != nil {
`},
	// Sockets that connect: the resolver that a run has set refuses them
	// (sim/internal/process/network.go).
	{"net/sock_posix.go", 1, "\t\"internal/poll\"\n", "\t\"internal/poll\"\n\t\"internal/synctest\"\n"},
	{"net/sock_posix.go", 1, "(fd *netFD, err error) {\n\ts, err := sysSocket(", `(fd *netFD, err error) {
	if r := DefaultResolver; raddr != nil && r != nil && r.Dial != nil && synctest.IsInBubble() {
		_, err := r.Dial(ctx, "wavetank "+net, raddr.String())
		return nil, err
	}
	s, err := sysSocket(`},
}

// Overlay writes the overlay for a GOROOT and its version, as in runtime.Version, into a directory.
// It returns the path for go test -overlay. The error names the version or the source that is
// unexpected.
func Overlay(goroot, version, dir string) (string, error) {
	edits, err := editsOf(version)
	if err != nil {
		return "", err
	}
	if strings.Contains(filepath.ToSlash(goroot), "/golang.org/toolchain@") {
		return "", fmt.Errorf("exact mode cannot replace files of %s, as go refuses that in the module cache; copy "+
			"the toolchain, as with cp -r %[1]s $HOME/%[2]s && chmod -R u+w $HOME/%[2]s, and use the go in its bin "+
			"directory", goroot, version)
	}
	sources := map[string]string{}
	replace := map[string]string{}
	for _, e := range edits {
		original := filepath.Join(goroot, "src", filepath.FromSlash(e.file))
		if sources[original] == "" {
			data, err := os.ReadFile(original)
			if err != nil {
				return "", fmt.Errorf("exact mode needs the sources of the runtime: %w", err)
			}
			sources[original] = string(data)
			replace[original] = filepath.Join(dir, strings.ReplaceAll(e.file, "/", "_"))
		}
		if n := strings.Count(sources[original], e.old); n != e.times {
			return "", fmt.Errorf("exact mode does not know this runtime: %s has %q %d times, not %d; run without it",
				original, strings.TrimSpace(e.old), n, e.times)
		}
		sources[original] = strings.ReplaceAll(sources[original], e.old, e.new)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	for original, source := range sources {
		if err := os.WriteFile(replace[original], []byte(source), 0o666); err != nil {
			return "", err
		}
	}
	data, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, data, 0o666)
}
