package apiserver_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/models/apiserver"
)

var update = flag.Bool("update", false, "rewrite the recorded replies under testdata/rows")

// TestRows sends the requests in testdata/rows and compares the replies with those recorded beside
// them. When they were recorded, each reply was the same as that of kube-apiserver v1.37.1, but for
// random names, times, versions and managedFields; rows where a difference is known say so in their
// title, after a dash.
//
// A row is "### title", then "METHOD path", then headers as "> Name: value", then the body.
// {{rv:path}}, {{uid:path}} and {{cont:path}} stand for the resourceVersion, UID and continue token
// that a GET of the path returns.
func TestRows(t *testing.T) {
	files, err := filepath.Glob("testdata/rows/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no rows: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runRows(t, file) })
	}
}

func runRows(t *testing.T, file string) {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t)
	var got bytes.Buffer
	for _, block := range strings.Split("\n"+string(raw), "\n### ")[1:] {
		row := parseRow(t, s, block)
		r := s.Handle(row.request)
		fmt.Fprintf(&got, "### %s\n%s %s\n%d", row.title, row.request.Method, row.path, r.Code)
		for _, w := range r.Header.Values("Warning") {
			fmt.Fprintf(&got, "\nWarning: %s", w)
		}
		body := r.Body
		if r.Watch != nil {
			for f, ok := r.Watch.Next(); ok; f, ok = r.Watch.Next() {
				body = append(body, f.Data...)
			}
		}
		fmt.Fprintf(&got, "\n%s\n\n", bytes.TrimSpace(body))
	}
	golden := strings.TrimSuffix(file, ".txt") + ".golden"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	compareRows(t, got.String(), string(want))
}

func compareRows(t *testing.T, got, want string) {
	a, b := strings.Split(got, "### "), strings.Split(want, "### ")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Fatalf("row %d:\n got %s\nwant %s", i, at(a, i), at(b, i))
		}
	}
}

func at(rows []string, i int) string {
	if i < len(rows) {
		return rows[i]
	}
	return "(nothing)"
}

type row struct {
	title, path string
	request     *apiserver.Request
}

var holes = regexp.MustCompile(`\{\{(\w+):([^}]*)\}\}`)

func parseRow(t *testing.T, s *apiserver.Server, block string) row {
	title, rest, _ := strings.Cut(block, "\n")
	line, rest, _ := strings.Cut(rest, "\n")
	method, path, found := strings.Cut(strings.TrimSpace(line), " ")
	if !found {
		t.Fatalf("row %q has no request", title)
	}
	header := http.Header{}
	for strings.HasPrefix(rest, "> ") {
		var h string
		h, rest, _ = strings.Cut(rest, "\n")
		name, value, _ := strings.Cut(h[2:], ": ")
		header.Set(name, value)
	}
	body := fillHoles(t, s, strings.TrimSpace(rest))
	if body != "" && header.Get("Content-Type") == "" {
		header.Set("Content-Type", map[bool]string{true: mergeType, false: jsonType}[method == "PATCH"])
	}
	u, err := url.Parse(fillHoles(t, s, path))
	if err != nil {
		t.Fatal(err)
	}
	return row{title: title, path: path,
		request: &apiserver.Request{Method: method, URL: u, Header: header, Body: []byte(body)}}
}

func fillHoles(t *testing.T, s *apiserver.Server, text string) string {
	return holes.ReplaceAllStringFunc(text, func(hole string) string {
		m := holes.FindStringSubmatch(hole)
		var o struct {
			Metadata struct{ ResourceVersion, UID, Continue string }
		}
		if err := json.Unmarshal(do(t, s, "GET", m[2], "", "").Body, &o); err != nil {
			t.Fatal(err)
		}
		switch m[1] {
		case "rv":
			return o.Metadata.ResourceVersion
		case "uid":
			return o.Metadata.UID
		default:
			return o.Metadata.Continue
		}
	})
}
