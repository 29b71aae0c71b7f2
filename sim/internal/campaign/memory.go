package campaign

import (
	"flag"
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
)

// memory is an amount of memory in bytes, which flags have as Kubernetes writes it.
type memory int64

// defaultMemory is where the memory of a campaign is held. Garbage is collected when the heap has
// grown tenfold, which took gigabytes where runs are long. What the process needs outside Go's heap
// comes on top, and it stays below 1 GB.
const defaultMemory memory = 768 << 20

// String implements [flag.Value].
func (m memory) String() string { return resource.NewQuantity(int64(m), resource.BinarySI).String() }

// Set implements [flag.Value].
func (m *memory) Set(text string) (err error) {
	*m, err = parseMemory(text)
	return err
}

func parseMemory(text string) (memory, error) {
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Sign() < 0 {
		return 0, fmt.Errorf("%q is no amount of memory; write it as 512Mi or 2Gi", text)
	}
	return memory(q.Value()), nil
}

// memoryVar defines a flag.
func memoryVar(m *memory, name string, otherwise memory, usage string) {
	*m = otherwise
	flag.Var(m, name, usage)
}
