package scaffold

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// check finds the types of a package. Names that are not needed are
// missing, which is no error.
func (l *library) check(s *source) {
	if s.types != nil {
		return
	}
	s.types = types.NewPackage(s.ImportPath, s.Name)
	files := s.files
	if s.info == nil {
		files = nil
		for _, f := range s.files {
			decls := slices.DeleteFunc(slices.Clone(f.Decls), func(d ast.Decl) bool {
				g, ok := d.(*ast.GenDecl)
				return !ok || g.Tok != token.IMPORT
			})
			files = append(files, &ast.File{Package: f.Package, Name: f.Name, Decls: append(decls, s.needed[f]...),
				Imports: f.Imports, FileStart: f.FileStart, FileEnd: f.FileEnd})
		}
	}
	config := types.Config{Importer: importer{l, s}, Error: func(error) {}, IgnoreFuncBodies: s.info == nil,
		FakeImportC: true, DisableUnusedImportCheck: true}
	_ = types.NewChecker(&config, l.set, s.types, s.info).Files(files)
	s.types.MarkComplete()
}

// importer gives a package what it imports.
type importer struct {
	*library
	by *source
}

func (i importer) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	path = cmp.Or(i.by.ImportMap[path], path)
	if s := i.sources[path]; s != nil {
		i.check(s)
		return s.types, nil
	}
	p := i.listed[path]
	if p == nil {
		return nil, fmt.Errorf("%s is not known", path)
	}
	s := i.source(p) // nothing of it is needed
	i.check(s)
	return s.types, nil
}
