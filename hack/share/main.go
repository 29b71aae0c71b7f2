// Share prints who used the CPU in a pprof profile of a simulation: the harness, its models,
// libraries, or the reconciler. Each sample belongs to the innermost frame of a group. So memory
// and garbage collection count for the code that allocates.
//
// Usage: go run ./hack/share cpu.prof
package main

import (
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

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: share cpu.prof")
		os.Exit(2)
	}
	f, err := os.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	shares := map[string]int64{}
	var total int64
	for _, s := range p.Sample {
		v := s.Value[len(s.Value)-1]
		total += v
		shares[owner(s)] += v
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
