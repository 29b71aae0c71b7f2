package scaffold

import (
	"cmp"
	"fmt"
	"go/types"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// imports are the packages that a test file imports. It owns their names in the file.
type imports struct {
	pkg      *packages.Package // whose names are taken
	external bool              // the test stands in a package of its own
	names    map[string]string // by path
}

// use imports a package, and returns its name in the test; "" for the package that the test is in.
func (i *imports) use(importPath, name string) string {
	if importPath == i.pkg.PkgPath && !i.external {
		return ""
	}
	if _, ok := i.names[importPath]; !ok {
		name = cmp.Or(name, path.Base(importPath))
		for i.taken(name) {
			name += "x"
		}
		i.names[importPath] = name
	}
	return cmp.Or(i.names[importPath], path.Base(importPath))
}

func (i *imports) taken(name string) bool {
	for importPath, as := range i.names {
		if name == cmp.Or(as, path.Base(importPath)) {
			return true
		}
	}
	return !i.external && i.pkg.Types.Scope().Lookup(name) != nil
}

// qualified is a name of a package, as the test writes it.
func (i *imports) qualified(importPath, alias, name string) string {
	if in := i.use(importPath, alias); in != "" {
		return in + "." + name
	}
	return name
}

// qualify is the name of a package in a type.
func (i *imports) qualify(p *types.Package) string { return i.use(p.Path(), p.Name()) }

// block is the import declaration.
func (i *imports) block() string {
	var std, others []string
	for importPath, name := range i.names {
		line := fmt.Sprintf("%q", importPath)
		if name != "" && name != path.Base(importPath) {
			line = name + " " + line
		}
		switch first, _, _ := strings.Cut(importPath, "/"); {
		case !strings.Contains(first, "."):
			std = append(std, line)
		default:
			others = append(others, line)
		}
	}
	byPath := func(a, b string) int { return strings.Compare(a[strings.Index(a, `"`):], b[strings.Index(b, `"`):]) }
	var groups []string
	for _, g := range [][]string{std, others} {
		if slices.SortFunc(g, byPath); len(g) > 0 {
			groups = append(groups, strings.Join(g, "\n"))
		}
	}
	return "import (\n" + strings.Join(groups, "\n\n") + "\n)\n"
}
