package campaign

import (
	"runtime/metrics"
	"slices"
)

// mostWorn is how much memory a process may hold that no collection gives back, before a fresh one
// takes its place.
//
// Go's runtime keeps 32 bytes for each sync.WaitGroup that is waited for in a bubble (Go 1.26 and
// 1.27, runtime/synctest.go: synctest_disassociate drops what removespecial tells its caller to
// free). The informers and work queues of a small operator leave 2.2 KB in a run (fuzz/scale), so
// that a million runs would take 2 GB.
const mostWorn = 64 << 20

// worn reports whether the process should be replaced, and whether that changes nothing. What it
// has made must be on file. With one shard later runs begin in earlier ones, a budget and a profile
// are of one process.
func (s Settings) worn() bool {
	profiled := slices.ContainsFunc(ofOneProcess, func(name string) bool { return given(name, "") })
	if s.ReportDir == "" || s.Budget > 0 || s.shards() < 2 || profiled {
		return false
	}
	other := []metrics.Sample{{Name: "/memory/classes/other:bytes"}}
	metrics.Read(other)
	return other[0].Value.Kind() == metrics.KindUint64 && other[0].Value.Uint64() > mostWorn
}

// ofOneProcess are flags of go test for what a process writes when it ends.
var ofOneProcess = []string{"test.blockprofile", "test.coverprofile", "test.cpuprofile", "test.gocoverdir",
	"test.memprofile", "test.mutexprofile", "test.trace"}
