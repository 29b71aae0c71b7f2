package reports

import (
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/wavetank/wavetank/history"
)

const (
	maxSubjects = 6 // objects of a sentence whose life is followed
	maxEffects  = 6 // requests to the outside that a sentence may be about
)

// subjects links the violation to the life of the objects that its sentence names: their creation,
// their deletion, and their last write and that of each subresource. It also links the effects
// outside the cluster that the sentence may be about.
func (t *tracing) subjects() {
	t.named = t.namedObjects()
	for _, ref := range t.named {
		writes := t.writesBefore(ref, t.violation)
		last := map[string]int{} // by subresource
		for _, i := range writes {
			last[t.h.Events[i].Sub] = i
		}
		for n, i := range writes {
			e := &t.h.Events[i]
			switch {
			case n == 0:
				t.link(i, t.violation, "the first write of an object that the sentence names")
			case strings.HasPrefix(e.Verb, "delete") || removes(e, ref):
				t.link(i, t.violation, "deleted an object that the sentence names")
			case i == last[e.Sub]:
				t.link(i, t.violation, "the last write of an object that the sentence names")
			}
		}
	}
	for _, i := range t.namedKeys() {
		t.link(i, t.violation, "the last change in reconciles of an object that the sentence names")
	}
	for _, i := range t.unchanging() {
		t.link(i, t.violation, "the last request in reconciles of an object that the sentence names")
	}
	for _, i := range t.namedEffects() {
		t.link(i, t.violation, "an effect that the sentence may be about")
	}
}

func (f *finder) writesBefore(ref history.Ref, i int) []int {
	writes := f.writes[ref]
	return writes[:sort.SearchInts(writes, i)]
}

func removes(e *history.Event, ref history.Ref) bool {
	return slices.ContainsFunc(e.Changes, func(c history.Change) bool { return c.Ref == ref && c.Type == "DELETED" })
}

// namedObjects are the objects that the property's error is about, then those that the sentence of
// the violation names. Last come objects whose names begin with such a name, as children's often
// do.
func (f *finder) namedObjects() []history.Ref {
	words := wordsOf(f.h.Events[f.violation].Note)
	named := map[history.Ref]bool{}
	about := f.h.Events[f.violation].About
	for _, ref := range about {
		named[ref] = true
	}
	var refs, related []history.Ref
	for ref := range f.writes {
		if !named[ref] && !ref.Chatter() && (words[ref.Namespace+"/"+ref.Name] || words[ref.Kind+" "+ref.Name] ||
			distinct(ref.Name) && words[ref.Name]) {
			named[ref] = true
			refs = append(refs, ref)
		}
	}
	for ref := range f.writes {
		child := func(of history.Ref) bool { return distinct(of.Name) && strings.HasPrefix(ref.Name, of.Name+"-") }
		if !ref.Chatter() && !named[ref] && slices.ContainsFunc(slices.Concat(about, refs), child) {
			related = append(related, ref)
		}
	}
	order := func(refs []history.Ref) { // those whose kind is named come first
		slices.SortFunc(refs, func(a, b history.Ref) int {
			if words[a.Kind] != words[b.Kind] {
				return map[bool]int{true: -1, false: 1}[words[a.Kind]]
			}
			return a.Compare(b)
		})
	}
	order(refs)
	order(related)
	return first(slices.Concat(about, refs, related), maxSubjects)
}

// namedKeys are the last requests with a change in reconciles whose keys are objects that the
// sentence names.
func (t *tracing) namedKeys() (out []int) {
	last := map[history.Key]int{}
	for i := range t.violation {
		if e := &t.h.Events[i]; t.changes(i) {
			last[e.Reconcile.Key] = i
		}
	}
	for key, i := range last {
		of := func(ref history.Ref) bool { return ref.Namespace == key.Namespace && ref.Name == key.Name }
		if slices.ContainsFunc(t.named, of) {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return out[max(0, len(out)-maxSubjects):]
}

// distinct reports whether a name is unlikely to be a word of a sentence.
func distinct(name string) bool {
	return len(name) >= 4 || strings.ContainsFunc(name, func(r rune) bool { return r == '-' || unicode.IsDigit(r) })
}

// wordsOf are the words of a sentence, each two that follow each other, with a blank between them,
// and the hosts of addresses. The name of an object is one word.
func wordsOf(sentence string) map[string]bool {
	words := map[string]bool{}
	apart := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-./", r)
	}
	before := ""
	for _, word := range strings.FieldsFunc(sentence, apart) {
		word = strings.Trim(word, "./")
		words[word], words[before+" "+word] = true, true
		if host, _, ok := strings.Cut(word, "/"); ok && strings.Contains(host, ".") {
			words[host] = true
		}
		before = word
	}
	return words
}

// namedEffects are the last requests with an effect outside the cluster that happened more than
// once, or whose effect, host or path the sentence names.
func (t *tracing) namedEffects() (out []int) {
	words := wordsOf(t.h.Events[t.violation].Note)
	for _, e := range t.h.Effects("") {
		if e.Event >= t.violation {
			break
		}
		r := &t.h.Events[e.Event]
		named := words[r.Host] || e.Key != "" && words[e.Key] || !e.Unnamed() && words[e.Kind]
		for segment := range strings.SplitSeq(r.Path, "/") {
			named = named || distinct(segment) && words[segment]
		}
		for _, ref := range t.named {
			named = named || distinct(ref.Name) && strings.Contains(string(r.Sent), `"`+ref.Name+`"`)
		}
		if named || len(t.same[t.identity(e)]) > 1 {
			out = append(out, e.Event)
		}
	}
	return out[max(0, len(out)-maxEffects):]
}

// identity is equal for effects that are the same. It is made of their kind and key, or of the
// whole request where there is no key.
func (f *finder) identity(e history.Effect) string {
	if !e.Unnamed() || e.Event >= len(f.h.Events) {
		return e.Kind + " " + e.Key
	}
	r := &f.h.Events[e.Event]
	return strings.Join([]string{e.Kind, r.Verb, r.Host, r.Path, string(r.Sent)}, " ")
}
