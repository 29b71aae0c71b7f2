package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Each page is what the code says now.
func TestPagesAreFresh(t *testing.T) {
	root := filepath.Join("..", "..")
	for _, p := range pages {
		want, err := p.render(root)
		if err != nil {
			t.Error(err)
			continue
		}
		got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.file)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what %s says: run make docs (%v)", p.file, p.parts[0].dir, err)
		}
	}
}

// A page that names what is not there, or what has no example, is refused.
func TestIncompletePagesAreRefused(t *testing.T) {
	for _, p := range []page{
		{parts: []part{{dir: "sim/property", names: []string{"NoSuchProperty"}}}},
		{parts: []part{{dir: "sim/property", result: "NoSuchType"}}},
		{parts: []part{{dir: "history", names: []string{"Clock"}}}},
		{parts: []part{{dir: "history", result: "Time"}}},
		{parts: []part{{dir: "sim/property", names: []string{"CrashSafe"}}}, tables: map[string]table{
			"CrashSafe": {files: []string{"sim/property/state.go"}, name: "noSuchList"}}},
	} {
		if text, err := p.render(filepath.Join("..", "..")); err == nil {
			t.Errorf("%v gives %s", p, text)
		}
	}
}
