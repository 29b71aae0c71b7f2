package shell

import (
	"runtime/debug"
	"testing"
)

// A data race is found again only by a test that looks for races.
func TestTheCommandBuildsTheSameProgram(t *testing.T) {
	settings := []debug.BuildSetting{{Key: "-buildmode", Value: "exe"}, {Key: "-race", Value: "true"},
		{Key: "-tags", Value: "a,b c"}, {Key: "CGO_ENABLED", Value: "1"}}
	if got, want := goTest("example.com/x", settings), "go test example.com/x -race -tags='a,b c'"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := goTest("example.com/x", nil), "go test example.com/x"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
