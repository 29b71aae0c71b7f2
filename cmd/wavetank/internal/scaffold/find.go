package scaffold

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	pathpkg "path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// candidates are the directories of packages that are read: those with a function that takes a
// manager, the packages main that use controller-runtime, and those that import, themselves or
// through others, a package that makes a manager. A file that cannot be parsed is one, too; whether
// it is built is found out later. Reads are the strings in the code that may be names of variables.
func candidates(root, module string) (dirs []string, reads map[string]bool, err error) {
	imports, makers := map[string][]string{}, []string{} // packages of the module
	reads = map[string]bool{}
	own := regexp.MustCompile(`"(` + regexp.QuoteMeta(module) + `(?:/[^"\s]*)?)"`)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && IsElsewhere(path, d.Name()) {
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
			reads[string(m[1])] = true
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		for _, m := range own.FindAllSubmatch(data, -1) {
			imports[rel] = append(imports[rel], string(m[1]))
		}
		if newManager.Match(data) {
			makers = append(makers, pathpkg.Join(module, filepath.ToSlash(rel)))
		}
		if err == nil && isCandidate(path, data) && !slices.Contains(dirs, rel) {
			dirs = append(dirs, rel)
		}
		return err
	})
	for range maxCalls {
		for _, rel := range slices.Sorted(maps.Keys(imports)) {
			of := pathpkg.Join(module, filepath.ToSlash(rel))
			if !slices.Contains(makers, of) && slices.ContainsFunc(imports[rel], func(path string) bool {
				return slices.Contains(makers, path)
			}) {
				makers = append(makers, of)
				if !slices.Contains(dirs, rel) {
					dirs = append(dirs, rel)
				}
			}
		}
	}
	return dirs, reads, err
}

var quotedVariable = regexp.MustCompile("[\"`]([A-Z][A-Z0-9_]+)[\"`]")

// IsElsewhere reports whether a directory is none of the module's packages, by the rules of the go
// command.
func IsElsewhere(path, name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") ||
		slices.Contains([]string{"vendor", "testdata", "node_modules"}, name) {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

var newManager = regexp.MustCompile(`\bNewManager\(|\bmanager\.New\(`)

func isCandidate(path string, data []byte) bool {
	if !bytes.Contains(data, []byte(`"sigs.k8s.io/controller-runtime`)) {
		return false
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, data, parser.SkipObjectResolution)
	if err != nil || file.Name.Name == "main" || newManager.Match(data) {
		return true
	}
	return slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && slices.ContainsFunc(f.Type.Params.List, func(param *ast.Field) bool {
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
