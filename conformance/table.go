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

// row is a case written as a script; see [T.Script] for its language.
func row(name string, lines ...string) Row {
	return Row{Name: name, Run: func(t *T) { t.Script(lines...) }}
}

// call is a case that needs a real client and not a script.
func call(name string, run func(*T)) Row { return Row{Name: name, Run: run} }

// differs marks an accepted difference.
func (r Row) differs(reason string) Row {
	r.Differs = strings.Join(named(reason), "\n")
	return r
}

// refused marks a case that the model refuses.
func (r Row) refused(reason string) Row {
	r = r.differs(reason)
	r.Refused = true
	return r
}

// area names the area of rows that are written together.
func area(name string, rows ...Row) []Row {
	for i := range rows {
		rows[i].Area = name
	}
	return rows
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
