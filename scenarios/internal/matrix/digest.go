// This file tells whether the code has changed since the runs of a cell.

package matrix

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// digest is one of the controller and of the scenario whose folder is the working directory, with
// the shared packages that they import. Comments, tests and files that are not compiled in do not
// count.
func digest() string {
	sum := sha256.New()
	here, err := os.Getwd()
	if err != nil {
		return ""
	}
	var all []byte
	for i, root := range []string{"../../controllers/" + filepath.Base(here), ".", "../../controllers/internal",
		"../internal/faults", "../internal/fence", "../internal/properties", "../internal/worlds"} {
		name := strings.TrimLeft(root, "./")
		if i > 1 && !bytes.Contains(all, []byte(name+"/")) && !bytes.Contains(all, []byte(name+`"`)) {
			continue // it is not imported
		}
		walked := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			ext := filepath.Ext(path)
			switch {
			case err == nil && d.Name() == "testdata":
				return fs.SkipDir
			case err != nil || d.IsDir() || ext == ".md" || ext == ".json" || strings.HasSuffix(path, "_test.go"):
				return err
			}
			data, err := os.ReadFile(path)
			fmt.Fprintf(sum, "%s\n", filepath.ToSlash(path))
			if ext == ".go" {
				data = tokens(data)
				all = append(all, data...)
			}
			sum.Write(data)
			return err
		})
		if walked != nil && !os.IsNotExist(walked) {
			return ""
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil))[:12]
}

// tokens is Go code without comments and formatting.
func tokens(code []byte) (out []byte) {
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", -1, len(code)), code, nil, 0)
	for {
		_, tok, literal := s.Scan()
		if tok == token.EOF {
			return out
		}
		if literal == "" || literal == "\n" { // an operator, or an automatic semicolon
			literal = tok.String()
		}
		out = append(append(out, literal...), ' ')
	}
}
