package draw_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/sim/internal/draw"
)

func zero(int) int { return 0 }

// The default choices give the simplest value, and a value depends on its words alone.
func TestFrom(t *testing.T) {
	list := rapid.SliceOfN(rapid.IntRange(3, 9), 2, 5)
	if v, err := draw.From("list", list, zero); err != nil || len(v) != 2 || v[0] != 3 {
		t.Errorf("%v, %v", v, err)
	}
	words := func(seed int) func(int) int {
		return func(word int) int { return (seed + word) * 0x9e3779b97f4a7c1 % draw.Words }
	}
	different := map[int]bool{}
	for seed := range 50 {
		a, err := draw.From("n", rapid.IntRange(0, 1000), words(seed))
		b, again := draw.From("n", rapid.IntRange(0, 1000), words(seed))
		if a != b || err != nil || again != nil {
			t.Errorf("the same words gave %d and %d (%v, %v)", a, b, err, again)
		}
		different[a] = true
	}
	if len(different) < 10 {
		t.Errorf("50 sequences of words gave %d values", len(different))
	}
}

// No more words are asked for than the generator reads.
func TestWordsAreAskedForAsTheyAreRead(t *testing.T) {
	words := func(n int) (asked int) {
		_, err := draw.From("list", rapid.SliceOfN(rapid.Uint64(), n, n), func(int) int { asked++; return 0 })
		if err != nil {
			t.Error(err)
		}
		return asked
	}
	if few, many := words(1), words(100); few > 10 || many < 100 || many > 1000 {
		t.Errorf("%d words for one number, and %d for a hundred", few, many)
	}
}

// A generator that gives no value gets a message that says why.
func TestGeneratorsWithoutAValue(t *testing.T) {
	odd := rapid.IntRange(0, 1<<30).Filter(func(n int) bool { return n%2 == 1 })
	if v, err := draw.From("odd", odd, zero); err != nil || v%2 == 0 {
		t.Errorf("%d, %v", v, err) // the default words are rejected, others are not
	}
	never := rapid.Int().Filter(func(int) bool { return false })
	if _, err := draw.From("never", never, zero); err == nil || !strings.Contains(err.Error(), "instead of filtering") {
		t.Error(err)
	}
	long := rapid.SliceOfN(rapid.Uint64(), 10000, 10000)
	if _, err := draw.From("long", long, zero); err == nil || !strings.Contains(err.Error(), "draw smaller values") {
		t.Error(err)
	}
	failing := rapid.Custom(func(t *rapid.T) int { t.Fatalf("no value today"); return 0 })
	if _, err := draw.From("failing", failing, zero); err == nil || !strings.Contains(err.Error(), "no value today") {
		t.Error(err)
	}
	if _, err := draw.From[int]("nil", nil, zero); err == nil || !strings.Contains(err.Error(), "no generator") {
		t.Error(err)
	}
	defer func() {
		if r := recover(); r == nil || !strings.Contains(r.(string), "my own fault") {
			t.Errorf("the panic became %v", r)
		}
	}()
	_, _ = draw.From("panics", rapid.Custom(func(t *rapid.T) int { panic("my own fault") }), zero)
}

// Values are shown alike in each run: without addresses, and not at any length.
func TestInWords(t *testing.T) {
	n := 7
	for want, v := range map[string]any{"7": &n, "3s": 3 * time.Second, `{"A":1}`: struct{ A int }{1},
		"a func()": func() {}, "a chan int": make(chan int), "a map[string]func()": map[string]func(){"a": nil},
		strings.Repeat("ä", 99) + "…": strings.Repeat("ä", 500)} {
		if got := draw.InWords(v); strings.Trim(got, `"`) != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
