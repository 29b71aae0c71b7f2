// Command docs writes the tables of docs/ that are made from the code:
//
//	go run ./hack/docs    # or: make generate
//
// It is run in the root of the module. A test fails when a table is not what the code says.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// properties is a page of tables.
const properties = "docs/properties.md"

const propertiesHead = `# Properties: exceptions, false alarms, and the mistakes that they find

<!-- Made by make generate from the tables of the code. Do not edit. -->

Package [property](https://pkg.go.dev/github.com/wavetank/wavetank/sim/property) documents each property, with an
example. In a checkout, ` + "`go doc ./sim/property`" + ` lists them. The tables on this page come from the code.
`

// allocated is what CrashSafe leaves aside because a cluster allocates it.
var allocated = table{
	intro: "## Values that CrashSafe does not compare\n\n" +
		"The cluster allocates these values, so they are not compared. The files are in kubernetes/kubernetes.",
	files: []string{"sim/property/allocated.go"},
	name:  "allocated",
	columns: []column{
		{head: "kind", field: "kind"},
		{head: "field", field: "path", code: true, empty: "the whole object"},
		{head: "if", field: "when", code: true, empty: "always"},
		{head: "copies, too", field: "copied", empty: "no"},
		{head: "upstream", field: "upstream", code: true},
	},
}

// alarms are the false alarms of the properties of package auto.
var alarms = table{
	intro: "## Known false alarms of package auto\n\n" +
		"`auto.Scenario` judges these properties for every operator ([auto.md](auto.md)). `auto.Without` switches " +
		"one off by its name.",
	files: []string{"sim/auto/alarms.go"},
	name:  "alarms",
	columns: []column{
		{head: "property", field: "property"},
		{head: "operators whose behaviour is intended", field: "operator"},
		{head: "instead", field: "instead"},
	},
}

// mutants is which properties see which mistakes.
var mutants = table{
	intro: "## Which mistakes they find\n\n" +
		"Common mistakes were planted in the operators of `examples/`. Several sets of properties were tried, each " +
		"alone, with the faults of `TestEachProperty`: the default properties, some others of package property, and " +
		"an Always of the operator's own. A set that is not in the column *seen by* found nothing in 100 runs. No " +
		"default property finds any of these mistakes, so declare the properties that do. `make mutants` measures " +
		"the table.",
	files: []string{"hack/mutants/table.go"},
	name:  "Mutants",
	columns: []column{
		{head: "operator", field: "Operator"},
		{head: "mistake", field: "Mistake"},
		{head: "seen by", field: "Seen", empty: "none"},
		{head: "why", field: "Why"},
	},
}

func main() {
	for file, render := range map[string]func(root string) ([]byte, error){
		properties: renderProperties, architecture: renderArchitecture, callsPage: renderCalls,
	} {
		text, err := render(".")
		if err == nil {
			err = os.WriteFile(filepath.FromSlash(file), text, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "docs:", err)
			os.Exit(1)
		}
	}
}

// renderProperties makes the page of tables.
func renderProperties(root string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(propertiesHead)
	for _, t := range []table{allocated, alarms, mutants} {
		text, err := t.render(root)
		if err != nil {
			return nil, err
		}
		b.Write(text)
	}
	return b.Bytes(), nil
}
