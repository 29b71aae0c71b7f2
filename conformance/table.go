package conformance

// What a row is. Rows themselves are in rows/<topic>.txtar, and in rows_<topic>.go if they need
// more than a script, so that a reader who looks for one rule of the API finds it by its topic.

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// Row is one case that is sent to both arms.
type Row struct {
	Name string
	Area string
	// Run sends the requests. What goes through T is observed; Run asserts nothing itself.
	Run func(*T)
	// Differs is the reason of an accepted difference. The table then asserts that the arms still
	// differ.
	Differs string
	// Refused says that the model refuses the row. Its reply must then say that it does not model
	// the case.
	Refused bool
	// Managed keeps metadata.managedFields in the comparison; they are dropped otherwise.
	Managed bool
}

// RealVersion is the Kubernetes whose server is compiled and recorded (hack/envtest/go.mod).
const RealVersion = "v1.37.1"

// DrawnKinds are the kinds of the differential test. They are few, so that operations meet: two
// plain kinds, two with spec and status and rules of their own, and two custom ones, one of which
// has a status subresource.
var DrawnKinds = []string{"cm", "secret", "deploy", "pod", "widget", "gadget"}

// namespaceOf is the row's own namespace: derived from its name and not from its place, so that
// adding a row changes no other row's recording.
func namespaceOf(name string) string {
	slug := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name)
	h := fnv.New32a()
	h.Write([]byte(name))
	return fmt.Sprintf("c-%08x-%s", h.Sum32(), strings.Trim(slug[:min(len(slug), 24)], "-"))
}
