package scaffold

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// candidates are the directories of packages that are read: those with an exported function that
// takes a manager, and the packages main that use controller-runtime. A file that cannot be parsed
// is one, too; whether it is built is found out later.
func (p *Project) candidates() (dirs []string, err error) {
	err = filepath.WalkDir(p.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != p.Root && isElsewhere(path, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range quotedVariable.FindAllSubmatch(data, -1) {
			p.reads[string(m[1])] = true
		}
		rel, err := filepath.Rel(p.Root, filepath.Dir(path))
		if err == nil && isCandidate(path, data) && !slices.Contains(dirs, rel) {
			dirs = append(dirs, rel)
		}
		return err
	})
	return dirs, err
}

var quotedVariable = regexp.MustCompile("[\"`]([A-Z][A-Z0-9_]+)[\"`]")

// isElsewhere reports whether a directory is none of the module's packages, by the rules of the go
// command.
func isElsewhere(path, name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") ||
		slices.Contains([]string{"vendor", "testdata", "node_modules"}, name) {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

func isCandidate(path string, data []byte) bool {
	if !bytes.Contains(data, []byte(`"sigs.k8s.io/controller-runtime`)) {
		return false
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, data, parser.SkipObjectResolution)
	if err != nil || file.Name.Name == "main" {
		return true
	}
	return slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Name.IsExported() && slices.ContainsFunc(f.Type.Params.List, func(param *ast.Field) bool {
			switch t := param.Type.(type) {
			case *ast.Ident:
				return t.Name == "Manager"
			case *ast.SelectorExpr:
				return t.Sel.Name == "Manager"
			}
			return false
		})
	})
}
