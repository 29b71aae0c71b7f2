package object

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// A selector lets through what has its name, its labels and its fields, all of them.
func TestSelectorMatches(t *testing.T) {
	v := &Version{Type: &Type{Namespaced: true}}
	o := &Object{Meta: &metav1.ObjectMeta{Namespace: "n", Name: "a", Labels: map[string]string{"app": "web"}}}
	parse := func(text string) labels.Selector {
		s, err := labels.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	named := func(text string) Selector {
		return Selector{Fields: fields.ParseSelectorOrDie(text), Values: v.FieldValue}
	}
	for _, c := range []struct {
		s    Selector
		want bool
	}{
		{Selector{}, true},
		{Selector{Name: "a"}, true},
		{Selector{Name: "b"}, false},
		{Selector{Labels: parse("app in (web, db)")}, true},
		{Selector{Labels: parse("!app")}, false},
		{named("metadata.name=a,metadata.namespace!=m"), true},
		{named("metadata.name=a,metadata.namespace!=n"), false},
		{Selector{Name: "a", Labels: parse("app=db")}, false},
	} {
		if got := c.s.Matches(o); got != c.want {
			t.Errorf("%+v lets it through: %v", c.s, got)
		}
	}
	if v.FieldValue("spec.size") != nil || v.UnknownField("spec.size") == nil {
		t.Error("a field that cannot be selected by is known")
	}
}

// A content type counts without its parameters.
func TestMediaType(t *testing.T) {
	headers := map[string]string{"application/json; charset=utf-8": "application/json", " a/b ": "a/b", "": ""}
	for header, want := range headers {
		if got := MediaType(header); got != want {
			t.Errorf("%q of %q", got, header)
		}
	}
}
