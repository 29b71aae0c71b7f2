package wire

import (
	"testing"
)

// The line of a file is given as its module has it, on whatever machine the binary was built.
func TestLinesAreRelativeToTheModule(t *testing.T) {
	const wavetank = "github.com/wavetank/wavetank"
	for f, want := range map[Frame]string{
		{wavetank + "/controllers/promotion.(*Reconciler).Reconcile", "/x/a.go"}: "controllers/promotion/a.go:7",
		{wavetank + ".Run", "/x/run.go"}:                                         "run.go:7",
		{"example.org/op/site_test.TestSite.func1", "/x/op/site/a_test.go"}:      "example.org/op/site/a_test.go:7",
		{"github.com/wavetank/kit/site.Run", "/x/kit/site/a.go"}:                 "kit/site/a.go:7", // of a workspace
		{"main.run", "/x/main.go"}:                                               "main.go:7",
	} {
		if got := f.relative(7); got != want {
			t.Errorf("%s is at %q, want %q", f.Function, got, want)
		}
	}
	for file, want := range map[string]string{
		"/go/pkg/mod/example.org/op@v1.2.3/internal/a.go:9": "internal/a.go:9",
		"example.org/op@v1.2.3/internal/a.go:9":             "internal/a.go:9",
		"/x/vendor/example.org/op/internal/a.go:9":          "example.org/op/internal/a.go:9",
	} {
		if got := (Frame{File: file}).inModule(); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
}

// BenchmarkSource is what the line of a request costs, on a stack as deep as those of clients.
func BenchmarkSource(b *testing.B) {
	var deep func(n int)
	deep = func(n int) {
		if n > 0 {
			deep(n - 1)
			return
		}
		for b.Loop() {
			Source()
		}
	}
	deep(40)
}
