// This file finds what wrote a text that the sentence of a violation quotes.

package reports

import (
	"bytes"
	"encoding/json"
	"regexp"
)

const maxQuoted = 2 // texts whose writes a paragraph names

// quotation is a text in quotes that is long enough to be a message and not a name.
var quotation = regexp.MustCompile(`"([^"\n]{12,})"`)

// quoted says which write brought a text that the sentence of the violation quotes, if that is
// another write than the step and no sentence has named it.
func (n *narrator) quoted(add func(string, ...any)) {
	said := 0
	for _, text := range quotation.FindAllStringSubmatch(n.h.Events[n.violation].Note, -1) {
		if i := n.brought(text[1]); i >= 0 && i != n.d && !n.steps[i] && said < maxQuoted {
			add("The text %s was written %s.", text[0], n.step(i))
			said++
		}
	}
}

// brought is the last write before the violation with which a text came into an object; -1 if there
// is none.
func (r *requests) brought(text string) int {
	as, err := json.Marshal(text)
	if err != nil {
		return -1
	}
	as = bytes.Trim(as, `"`)
	has := func(object []byte) bool { // as a value, not as a key
		return bytes.Count(object, as) > bytes.Count(object, append(bytes.Clone(as), `":`...))
	}
	for i := r.violation - 1; i >= 0; i-- {
		if e := &r.h.Events[i]; !r.changes(i) || e.Chatter() {
			continue
		}
		for _, c := range r.h.Events[i].Changes {
			if has(c.Object) && !has(c.Previous) {
				return i
			}
		}
	}
	return -1
}
