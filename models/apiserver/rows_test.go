package apiserver_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/semver"
	corev1 "k8s.io/api/core/v1"

	"github.com/wavetank/wavetank/internal/versions"
	"github.com/wavetank/wavetank/models/apiserver"
)

var update = flag.Bool("update", false, "rewrite the recorded replies under testdata/rows")

// TestRows sends the requests in testdata/rows and compares the replies with those recorded next to
// them. When they were recorded, each reply was the same as that of kube-apiserver v1.37.1, except
// for random names, times, versions and managedFields. Rows with a known difference have it in
// their title, after a dash.
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
	replies := strings.Split(got.String(), "### ")
	if minor := minor(); minor != newestMinor {
		compareOlder(t, replies, recorded(t, golden), strings.TrimSuffix(golden, "golden")+minor+".golden")
		return
	}
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	compareRows(t, replies, recorded(t, golden))
}

// recorded are the replies in a file; none if it is missing.
func recorded(t *testing.T, file string) []string {
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Split(string(data), "### ")
}

// newestMinor is the minor version of the server whose replies are recorded in full.
const newestMinor = "v0.37"

// minor is that of the k8s.io modules, whose validation and defaults the model calls.
func minor() string {
	return semver.MajorMinor(versions.Module("k8s.io/api", (*corev1.Pod).DeepCopy))
}

// compareOlder compares the replies of an older minor version. Those that differ from the newest
// are recorded in a file of their own.
func compareOlder(t *testing.T, got, newest []string, file string) {
	title := func(reply string) string { return reply[:strings.Index(reply+"\n", "\n")] }
	want := slices.Clone(newest)
	for _, own := range recorded(t, file)[1:] {
		i := slices.IndexFunc(newest, func(r string) bool { return title(r) == title(own) })
		if i < 0 {
			t.Fatalf("%s has the row %q, which is not among the newest replies", file, title(own))
		}
		want[i] = own
	}
	if !*update {
		compareRows(t, got, want)
		return
	}
	var differ strings.Builder
	for i, r := range got {
		if i >= len(newest) || r != newest[i] {
			differ.WriteString("### " + r)
		}
	}
	err := os.RemoveAll(file)
	if differ.Len() > 0 {
		err = os.WriteFile(file, []byte(differ.String()), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func compareRows(t *testing.T, a, b []string) {
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
