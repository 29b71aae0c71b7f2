package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// apiDir has what each release exports, and next.txt: what the code exports now.
const apiDir = "docs/api"

// notPublic are directories whose packages nobody outside is to import: commands, tests and what
// has no promise.
var notPublic = regexp.MustCompile(
	`^(bin|cmd|conformance|controllers|docs|examples|fuzz|hack|scenarios)(/|$)` +
		`|^(reports/out|models/upstream|models/apiserver/helmtest)(/|$)|` +
		`(^|/)(internal|testdata|node_modules|[._][^/]*)(/|$)|test$`)

// exported is what the public packages export: a line for each declaration, sorted.
func exported(root string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, path)
		if err != nil || !d.IsDir() || dir == "." {
			return err
		}
		if notPublic.MatchString(filepath.ToSlash(dir)) {
			return filepath.SkipDir
		}
		lines, err := exportedBy(path)
		for _, line := range lines {
			out = append(out, filepath.ToSlash(dir)+": "+line)
		}
		return err
	})
	slices.Sort(out)
	return out, err
}

func exportedBy(dir string) (out []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if file.Name.Name == "main" {
			return nil, nil
		}
		ast.FileExports(file)
		for _, d := range file.Decls {
			lines, err := declared(set, d)
			if err != nil {
				return nil, err
			}
			out = append(out, lines...)
		}
	}
	return out, nil
}

// declared is an exported declaration, each of its specifications as a line.
func declared(set *token.FileSet, d ast.Decl) ([]string, error) {
	var nodes []any
	prefix := ""
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && !ast.IsExported(receiver(d.Recv.List[0].Type)) {
			return nil, nil
		}
		d.Body = nil
		nodes = []any{d}
	case *ast.GenDecl:
		if d.Tok == token.IMPORT {
			return nil, nil
		}
		prefix = d.Tok.String() + " "
		for _, s := range d.Specs {
			nodes = append(nodes, s)
		}
	}
	var out []string
	for _, n := range nodes {
		var b bytes.Buffer
		if err := printer.Fprint(&b, set, n); err != nil {
			return nil, err
		}
		out = append(out, prefix+strings.Join(strings.Fields(b.String()), " "))
	}
	return out, nil
}

func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

func writeAPI(root string) error {
	lines, err := exported(root)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, apiDir, "next.txt"), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

// lastReleased is what the newest release exports; nil before the first one.
func lastReleased(root string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(root, apiDir, "v*.txt"))
	if err != nil || len(files) == 0 {
		return nil, err
	}
	version := func(path string) string { return strings.TrimSuffix(filepath.Base(path), ".txt") }
	newest := slices.MaxFunc(files, func(a, b string) int { return semver.Compare(version(a), version(b)) })
	data, err := os.ReadFile(newest)
	return strings.Split(strings.TrimSpace(string(data)), "\n"), err
}

// unnamed are the names that have changed from one list to the other and that the newest entry of a
// changelog does not mention.
func unnamed(before, after []string, changelog string) (out []string) {
	entry := newestEntry(changelog)
	name := regexp.MustCompile(`^\S+: (?:func (?:\([^)]*\) )?|type |var |const )(\w+)`)
	for _, line := range slices.Concat(missing(before, after), missing(after, before)) {
		m := name.FindStringSubmatch(line)
		if m != nil && !regexp.MustCompile(`\b`+m[1]+`\b`).MatchString(entry) && !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// missing are the lines of the first list that the second one lacks.
func missing(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(line string) bool { return slices.Contains(b, line) })
}

// checkAPI reports whether docs/api/next.txt is what the code exports, and the changelog names what
// has changed since the last release.
func checkAPI(root string) error {
	now, err := exported(root)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(root, apiDir, "next.txt"))
	if err != nil || strings.TrimSpace(string(data)) != strings.Join(now, "\n") {
		was := strings.Split(strings.TrimSpace(string(data)), "\n")
		return fmt.Errorf("what is exported has changed: run make api, and name it in CHANGELOG.md\n"+
			"+ %s\n- %s", strings.Join(missing(now, was), "\n+ "), strings.Join(missing(was, now), "\n- "))
	}
	before, err := lastReleased(root)
	if err != nil || before == nil {
		return err
	}
	changelog, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	if names := unnamed(before, now, string(changelog)); len(names) > 0 {
		return fmt.Errorf("CHANGELOG.md does not name what has changed since the last release: %s",
			strings.Join(names, ", "))
	}
	return nil
}
