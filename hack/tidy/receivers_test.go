package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// otherReceivers are the types whose methods have a receiver that is not the type's initial, by the
// receiver.
var otherReceivers = map[string]string{
	"a":  "Caches",
	"at": "place",
	"b":  "Record",
	"c":  "helmConnection slowCluster",
	"in": "RepoSync RootSync",
	"k":  "cell",
	"l":  "Workload classLinks",
	"m":  "watchedManager",
	"n":  "tally",
	"o":  "example",
	"p":  "Reader benchPage htmlPage",
	"r":  "EstimateRow Orders caller pullReply",
	"s":  "PipelineSpec World trio",
	"t":  "Setting",
	"x":  "indexPage",
}

// TestReceivers checks that a receiver is the initial of its type. That of a reconciler may be r,
// as in the code that kubebuilder writes.
func TestReceivers(t *testing.T) {
	checkEach(t, func(path, text string) (out []string) {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		reconcilers := map[string]bool{}
		for pass := range 2 {
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || f.Recv == nil || len(f.Recv.List[0].Names) == 0 {
					continue
				}
				name, of := f.Recv.List[0].Names[0].Name, typeName(f.Recv.List[0].Type)
				switch {
				case f.Name.Name == "Reconcile":
					reconcilers[of] = true
				case pass == 0 || name == "_" || name == strings.ToLower(of[:1]) || name == "r" && reconcilers[of]:
				case !slices.Contains(strings.Fields(otherReceivers[name]), of):
					out = append(out, fmt.Sprintf("%v: the receiver %s of %s is not the initial of its type",
						files.Position(f.Pos()), name, of))
				}
			}
		}
		return out
	})
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	}
	return e.(*ast.Ident).Name
}
