package scaffold

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// use imports a package, and returns its name in the test; "" for the package that the test is in.
func (w *writer) use(importPath, name string) string {
	if importPath == w.process.pkg.PkgPath && !w.ginkgo {
		return ""
	}
	if _, ok := w.imports[importPath]; !ok {
		name = cmp.Or(name, path.Base(importPath))
		for w.taken(name) {
			name += "x"
		}
		w.imports[importPath] = name
	}
	return cmp.Or(w.imports[importPath], path.Base(importPath))
}

func (w *writer) taken(name string) bool {
	for importPath, as := range w.imports {
		if name == cmp.Or(as, path.Base(importPath)) {
			return true
		}
	}
	return !w.ginkgo && w.process.pkg.Types.Scope().Lookup(name) != nil
}

// qualified is a name of a package, as the test writes it.
func (w *writer) qualified(importPath, alias, name string) string {
	if in := w.use(importPath, alias); in != "" {
		return in + "." + name
	}
	return name
}

func (w *writer) importBlock() string {
	var std, others []string
	for importPath, name := range w.imports {
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
