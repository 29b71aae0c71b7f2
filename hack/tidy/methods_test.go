package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

const maxMethods = 20

// manyMethods are the types that have more. World has a method for each thing that a scenario can
// do. The others are operators of other projects, and the records that their tests judge.
var manyMethods = []string{"sim World", "controllers/clusterextension pass", "controllers/bundledeployment pass",
	"controllers/promotion pass", "controllers/throttle keeper", "scenarios/bundledeployment Record",
	"scenarios/clusterextension Record", "scenarios/promotion Record", "scenarios/reposync Record",
	"scenarios/throttle Record"}

// TestTypesHaveFewMethods counts the methods of each type, without those of embedded types.
func TestTypesHaveFewMethods(t *testing.T) {
	methods := map[string]int{}
	checkEach(t, func(file, text string) []string {
		if strings.HasSuffix(file, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				methods[path.Dir(file)+" "+typeName(f.Recv.List[0].Type)]++
			}
		}
		return nil
	})
	for name, n := range methods {
		if many := slices.Contains(manyMethods, name); many != (n > maxMethods) {
			t.Errorf("%s has %d methods; at most %d are allowed, unless manyMethods names it: split it by what it owns",
				name, n, maxMethods)
		}
	}
}
