package scaffold

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// library has the source of the packages that a project is read from. The packages asked for are
// read in full. Of all others only the declarations are read that those refer to, and what these
// refer to in turn. So nothing is compiled, and most of what an operator imports is never opened.
type library struct {
	set     *token.FileSet
	listed  map[string]*listed
	sources map[string]*source
}

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Name, Dir             string
	GoFiles, CgoFiles, InvalidGoFiles []string
	Imports                           []string
	ImportMap                         map[string]string
	DepOnly                           bool
	Error                             *struct{ Err string }
	Module                            *struct{ Main bool }
}

// source is a package that has been opened.
type source struct {
	*listed
	files    []*ast.File
	imports  map[*ast.File]map[string]string // import paths by local name
	declared map[string][]declaration        // by name; the methods of a type belong to its name
	needed   map[*ast.File][]ast.Decl        // of a package that was not asked for
	seen     map[ast.Decl]bool
	complete bool // generated files are read, too
	types    *types.Package
	info     *types.Info
}

// declaration is one declaration of a file, without function bodies.
type declaration struct {
	ast.Decl
	in *ast.File
}

// reference is a name of a package that another declaration uses, and how many packages lie
// between.
type reference struct {
	path, name string
	hops       int
}

// maxHops limits how many packages away from those asked for a declaration is read. The scheme's
// type is four packages away from a main that calls AddToScheme.
const maxHops = 4

// load reads packages, each given by its directory as seen from the root. Reachable are those that
// a package main imports, itself or through others.
func load(root string, dirs []string) (out []*packages.Package, reachable map[string]bool, err error) {
	l := &library{set: token.NewFileSet(), listed: map[string]*listed{}, sources: map[string]*source{}}
	asked, err := l.list(root, dirs)
	if err != nil {
		return nil, nil, err
	}
	var todo []reference
	var bad []error
	for _, p := range asked {
		s, err := l.open(p)
		if bad = append(bad, err); err == nil {
			todo = append(todo, l.used(s)...)
		}
	}
	if err := errors.Join(bad...); err != nil {
		return nil, nil, err
	}
	if err := l.missing(asked); err != nil {
		return nil, nil, err
	}
	for len(todo) > 0 {
		todo = append(todo[1:], l.need(todo[0])...)
	}
	for _, p := range asked {
		s := l.sources[p.ImportPath]
		l.check(s)
		pkg := &packages.Package{Name: p.Name, PkgPath: p.ImportPath, Fset: l.set, Syntax: s.files, Types: s.types,
			TypesInfo: s.info}
		out = append(out, pkg)
	}
	return out, l.reachable(asked), nil
}

func (l *library) reachable(asked []*listed) map[string]bool {
	out := map[string]bool{}
	var visit func(p *listed)
	visit = func(p *listed) {
		for _, path := range p.Imports {
			path = cmp.Or(p.ImportMap[path], path)
			if of := l.listed[path]; of != nil && !out[path] && of.Module != nil && of.Module.Main {
				out[path] = true
				visit(of)
			}
		}
	}
	for _, p := range asked {
		if p.Name == "main" {
			visit(p)
		}
	}
	return out
}

// list asks the go command for packages and what they import. It returns those that were asked for
// and are built here.
func (l *library) list(root string, dirs []string) (asked []*listed, err error) {
	const fields = "ImportPath,Name,Dir,GoFiles,CgoFiles,InvalidGoFiles,Imports,ImportMap,DepOnly,Error,Module"
	args := []string{"list", "-e", "-deps", "-json=" + fields}
	for _, dir := range dirs {
		args = append(args, "./"+filepath.ToSlash(dir))
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	var said bytes.Buffer
	cmd.Stderr = &said
	data, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, bytes.TrimSpace(said.Bytes()))
	}
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		p := &listed{}
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			slices.SortFunc(asked, func(a, b *listed) int { return strings.Compare(a.ImportPath, b.ImportPath) })
			return asked, nil
		} else if err != nil {
			return nil, err
		}
		l.listed[p.ImportPath] = p
		switch {
		case p.DepOnly:
		case len(p.GoFiles)+len(p.CgoFiles)+len(p.InvalidGoFiles) > 0:
			asked = append(asked, p)
		case p.Error != nil && !strings.Contains(p.Error.Err, "build constraints exclude all Go files"):
			return nil, errors.New(p.Error.Err)
		}
	}
}

// missing is the error of imports that the go command does not find; nil if there are none.
func (l *library) missing(asked []*listed) error {
	var lines []string
	for _, p := range asked {
		for _, path := range p.Imports {
			of := l.listed[path]
			if of == nil || of.Error == nil || of.Dir != "" || len(lines) == 5 {
				continue
			}
			if line := "  " + of.Error.Err; !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return fmt.Errorf("imports are not found; go mod tidy may add them:\n%s", strings.Join(lines, "\n"))
}

// open parses all files of a package that was asked for.
func (l *library) open(p *listed) (*source, error) {
	s := l.source(p)
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles, p.InvalidGoFiles) {
		file, err := parser.ParseFile(l.set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		l.add(s, file)
	}
	s.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}}
	return s, nil
}

func (l *library) source(p *listed) *source {
	s := &source{listed: p, imports: map[*ast.File]map[string]string{}, declared: map[string][]declaration{},
		needed: map[*ast.File][]ast.Decl{}, seen: map[ast.Decl]bool{}}
	l.sources[p.ImportPath] = s
	return s
}

// add notes what a file imports and declares.
func (l *library) add(s *source, file *ast.File) {
	s.files = append(s.files, file)
	names := map[string]string{}
	for _, i := range file.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		path = cmp.Or(s.ImportMap[path], path)
		switch of := l.listed[path]; {
		case i.Name != nil:
			names[i.Name.Name] = path
		case of != nil:
			names[of.Name] = path
		}
	}
	s.imports[file] = names
	for _, d := range file.Decls {
		for name, part := range parts(d) {
			s.declared[name] = append(s.declared[name], declaration{part, file})
		}
	}
}

// parts are the declarations of single names within a declaration. Constants stay together, because
// one may continue the one before.
func parts(d ast.Decl) map[string]ast.Decl {
	out := map[string]ast.Decl{}
	switch d := d.(type) {
	case *ast.FuncDecl:
		short := &ast.FuncDecl{Recv: d.Recv, Name: d.Name, Type: d.Type}
		if d.Recv == nil || len(d.Recv.List) == 0 {
			out[d.Name.Name] = short
		} else if of := root(receiver(d.Recv.List[0].Type)); of != nil {
			out[of.Name] = short
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			one := &ast.GenDecl{TokPos: d.TokPos, Tok: d.Tok, Specs: []ast.Spec{spec}}
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				out[spec.Name.Name] = one
			case *ast.ValueSpec:
				if d.Tok == token.CONST {
					one = d
				}
				for _, id := range spec.Names {
					out[id.Name] = one
				}
			}
		}
	}
	return out
}

// receiver is the type of a receiver without its pointer and its type parameters.
func receiver(x ast.Expr) ast.Expr {
	switch at := ast.Unparen(x).(type) {
	case *ast.StarExpr:
		return receiver(at.X)
	case *ast.IndexListExpr:
		return at.X
	default:
		return at
	}
}

// used are the names of other packages in a package that was asked for.
func (l *library) used(s *source) (out []reference) {
	for _, file := range s.files {
		ast.Inspect(file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if id, ok := sel.X.(*ast.Ident); ok && s.imports[file][id.Name] != "" {
					out = append(out, reference{s.imports[file][id.Name], sel.Sel.Name, 1})
				}
			}
			return true
		})
	}
	return out
}

// need marks a declaration as needed, and returns what it refers to.
func (l *library) need(r reference) (out []reference) {
	s := l.sources[r.path]
	if s == nil {
		p := l.listed[r.path]
		if p == nil || p.Dir == "" || r.path == "unsafe" {
			return nil
		}
		s = l.source(p)
		l.openPart(s, false)
	}
	if s.info != nil {
		return nil // all of it is read
	}
	if s.declared[r.name] == nil && !s.complete {
		l.openPart(s, true)
	}
	for _, d := range s.declared[r.name] {
		if s.seen[d.Decl] {
			continue
		}
		s.seen[d.Decl] = true
		s.needed[d.in] = append(s.needed[d.in], d.Decl)
		for _, x := range typesOf(d.Decl) {
			out = append(out, l.mentioned(s, d.in, x, r.hops)...)
		}
	}
	return out
}

// openPart parses the files of a package that were written by hand, or those that were generated.
// The second are larger and seldom needed: conversions, deep copies, protocol buffers.
func (l *library) openPart(s *source, generated bool) {
	s.complete = generated
	for _, name := range slices.Concat(s.GoFiles, s.CgoFiles) {
		if isGenerated(name) != generated {
			continue
		}
		file, err := parser.ParseFile(l.set, filepath.Join(s.Dir, name), nil, parser.SkipObjectResolution)
		if err == nil {
			l.add(s, file)
		}
	}
}

func isGenerated(file string) bool {
	return strings.HasPrefix(file, "zz_generated") || strings.Contains(file, "generated.") ||
		strings.HasSuffix(file, ".pb.go")
}

// typesOf are the parts of a declaration that decide about its type. The elements of a literal do
// not.
func typesOf(d ast.Decl) (out []ast.Node) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return []ast.Node{d.Type}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				out = append(out, spec)
			case *ast.ValueSpec:
				if spec.Type != nil {
					out = append(out, spec.Type)
				}
				for _, v := range spec.Values {
					if spec.Type == nil || d.Tok == token.CONST {
						out = append(out, v)
					}
				}
			}
		}
	}
	return out
}

// mentioned are the names of packages in a part of a declaration.
func (l *library) mentioned(s *source, file *ast.File, part ast.Node, hops int) (out []reference) {
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if n.Type != nil {
				ast.Inspect(n.Type, visit)
			}
			return false
		case *ast.FuncLit:
			ast.Inspect(n.Type, visit)
			return false
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && s.imports[file][id.Name] != "" {
				if hops < maxHops {
					out = append(out, reference{s.imports[file][id.Name], n.Sel.Name, hops + 1})
				}
				return false
			}
		case *ast.Ident:
			out = append(out, reference{s.ImportPath, n.Name, hops})
		}
		return true
	}
	ast.Inspect(part, visit)
	return out
}
