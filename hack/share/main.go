// Share prints who used the CPU in a pprof profile of a simulation: the harness, its models,
// libraries, or the reconciler. Each sample belongs to the innermost frame of a group. So memory
// and garbage collection count for the code that allocates.
//
// With -parts it prints the share of each part of a run with everything that the part calls. Parts
// overlap: validation is a part of the API model.
//
// Usage: go run ./hack/share [-parts] cpu.prof
package main

import (
	"flag"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/google/pprof/profile"
)

// groups in order of preference: the first whose prefix fits a frame takes it.
var groups = []struct{ name, prefix string }{
	{"harness (sim)", "github.com/wavetank/wavetank/sim"},
	{"models", "github.com/wavetank/wavetank/models"},
	{"reconciler", "github.com/wavetank/wavetank/controllers"},
	{"reconciler", "github.com/wavetank/wavetank/fuzz/website.(*reconciler)"},
	{"reconciler", "github.com/wavetank/wavetank/fuzz/heavy.(*"},
	{"scenario", "github.com/wavetank/wavetank/scenarios"},
	{"scenario", "github.com/wavetank/wavetank/fuzz"},
	{"controller-runtime", "sigs.k8s.io/controller-runtime"},
	{"client-go", "k8s.io/client-go"},
	{"client-go", "net/http"},
	{"encoding", "encoding/json"},
	{"encoding", "sigs.k8s.io/json"},
	{"encoding", "k8s.io/apimachinery/pkg/runtime"},
	{"encoding", "github.com/evanphx/json-patch"},
	{"encoding", "gopkg.in/evanphx/json-patch"},
	{"validation", "k8s.io/kube-openapi"},
	{"validation", "k8s.io/apiextensions-apiserver"},
	{"validation", "k8s.io/apimachinery/pkg/api/validation"},
}

// parts are named by the functions that they are entered by.
var parts = []struct {
	name    string
	entries []string
}{
	{"the operator's reconciles, with its client", []string{"sim/internal/process.(*controllers).reconcile"}},
	{"API model", []string{"wavetank/models/apiserver."}},
	{"– validation of objects", []string{"registry.(*Kind).Validate"}},
	{"– managed fields", []string{"object.(*Object).Own", "object.(*Note)."}},
	{"judging properties", []string{"world.(*judge).judge"}},
	{"allocation and garbage, in all parts", []string{"runtime.mallocgc", "runtime.gcBgMarkWorker", "runtime.bgsweep"}},
}

func main() {
	byParts := flag.Bool("parts", false, "print the share of each part with everything that it calls")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: share [-parts] cpu.prof")
		os.Exit(2)
	}
	p, err := read(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	shares := map[string]int64{}
	var total int64
	for _, s := range p.Sample {
		v := s.Value[len(s.Value)-1]
		total += v
		if !*byParts {
			shares[owner(s)] += v
			continue
		}
		for _, part := range parts {
			if calls(s, part.entries) {
				shares[part.name] += v
			}
		}
	}
	names := make([]string, 0, len(shares))
	for n := range shares {
		names = append(names, n)
	}
	sort.Slice(names, func(i, j int) bool { return shares[names[i]] > shares[names[j]] })
	fmt.Printf("%.2f s of CPU\n", float64(total)/1e9)
	for _, n := range names {
		fmt.Printf("%5.1f %%  %s\n", 100*float64(shares[n])/float64(total), n)
	}
}

func read(path string) (*profile.Profile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return profile.Parse(f)
}

// calls reports whether one of the functions is on the stack of a sample.
func calls(s *profile.Sample, functions []string) bool {
	for _, loc := range s.Location {
		for _, line := range loc.Line {
			for _, f := range functions {
				if strings.Contains(line.Function.Name, f) {
					return true
				}
			}
		}
	}
	return false
}

// owner finds the innermost frame that belongs to a group.
func owner(s *profile.Sample) string {
	for _, loc := range s.Location {
		for _, line := range loc.Line {
			for _, g := range groups {
				if strings.HasPrefix(line.Function.Name, g.prefix) {
					return g.name
				}
			}
		}
	}
	return "Go runtime alone"
}
