package history

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestSubjectsOfWrappedErrors(t *testing.T) {
	a, b := Ref{Kind: "Pod", Name: "a"}, Ref{Kind: "Pod", Name: "b"}
	plain := errors.New("too many")
	err := fmt.Errorf("twice: %w", errors.Join(About(plain, a, b), About(plain, b), nil))
	if got := Subjects(err); !slices.Equal(got, []Ref{a, b}) {
		t.Errorf("%v", got)
	}
	if got := About(plain, a); got.Error() != "too many" || !errors.Is(got, plain) {
		t.Errorf("%v", got)
	}
	if About(nil, a) != nil || Subjects(nil) != nil || Subjects(plain) != nil {
		t.Error("there is nothing to be about")
	}
}

func ExampleAbout() {
	oneClaim := func(h *History) error {
		var claims []Ref
		for _, o := range h.Objects("", "PersistentVolumeClaim") {
			claims = append(claims, o.Ref)
		}
		if len(claims) > 1 {
			return About(fmt.Errorf("there are %d claims", len(claims)), claims...)
		}
		return nil
	}
	fmt.Println(oneClaim(&History{}))
	// Output: <nil>
}
