package property

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/word"
)

// CrashSafe holds if a settled world is in the state that it would be in without faults: faults may
// change when and how often things happen, but not what remains. For Eventually. undisturbed is
// what [sim.World.Undisturbed] returns; the n-th Settle is compared with the n-th Settle there.
// Without patterns it covers all objects except Leases and Events. A violation names the first
// fields that differ, in order, with both values.
//
// Some values are never compared, wherever they are written, because they differ between any two
// runs:
//
//   - UIDs and generated names, resource versions, generations, managed fields.
//   - Times (the times of the run also as Unix time), and the annotation that fault.Conflict
//     leaves.
//   - What a cluster allocates: see the table in docs/properties.md. A field of the table is
//     compared if it says that nothing was allocated, for example clusterIP: None.
//   - Random values in Secrets: 16 or more letters and digits, or PEM. Binary data in Secrets
//     and binaryData.
//
// A copy of such a value is not compared either, as long as the original exists. The address of a
// Pod that is gone differs, and so does an old resource version of an object.
//
// A field that counts attempts may be ahead, by as many as there were crashes and failures. It is a
// number with a name like attempts, retries, restarts, failed or errorCount.
//
// A program may keep random values elsewhere, for example a UUID in a status or in a name. If the
// world differs from the undisturbed run, that run is repeated with other random numbers. Fields,
// names and keys that differ between the two are random, and their values are left out. Still
// compared are the number of objects, the fixed part of a text, whether the value exists, and
// whether two fields have the same value. A violation states how many fields were left out.
//
// If "settles" is switched off, a world that has not settled is not compared. The scenario itself
// must not depend on choices, except on values that it has drawn before it calls Undisturbed: this
// property cannot distinguish random input of the world from a bug of a controller.
//
// [sim.World.Undisturbed]: https://pkg.go.dev/github.com/wavetank/wavetank/sim#World.Undisturbed
func CrashSafe(undisturbed *history.History, of ...history.Ref) Property {
	return perRun(func() judge {
		here, settled := &states{of: of}, 0
		calm, other := calmStates{states: states{of: of}}, calmStates{states: states{of: of}}
		return judge{
			event: func(_ *history.History, e *history.Event) error {
				here.take(e)
				if e.Kind == history.Settled {
					settled++
				}
				return nil
			},
			now: func(h *history.History) error {
				if undisturbed == nil || undisturbed == h || !here.rest {
					return nil // this is the undisturbed run, or it has not been made yet
				}
				there, ok := calm.at(undisturbed, settled)
				if !ok {
					return nil // it did not come that far
				}
				differ, masked := against("undisturbed").differences(there, here.bodies()), ""
				if len(differ) > 0 && undisturbed.Redrawn != nil {
					if again, ok := other.at(undisturbed.Redrawn(), settled); ok {
						r := learn(there, again)
						differ = against("undisturbed").differences(r.masked(there), r.masked(here.bodies()))
						masked = r.remark()
					}
				}
				differ = slices.DeleteFunc(differ, func(m mismatch) bool { return m.countsAttempts(here.failures) })
				if breaks("CrashSafe: another state", len(differ) > 0) {
					return &difference{exchanged(differ), fmt.Sprintf(
						"at %s the world differs from the undisturbed run: %s%s",
						history.Clock(h.Now()), sentence(differ), masked)}
				}
				return nil
			},
		}
	})
}

// difference is the error of a world that is in another state.
type difference struct {
	exchanged bool
	text      string
}

func (d *difference) Error() string { return d.text }

// Exchanged reports whether the states differ only in which of several objects of a kind has which
// value.
func (d *difference) Exchanged() bool { return d.exchanged }

// calmStates follows an undisturbed run from one Settle to the next.
type calmStates struct {
	states
	read int
}

// at are the objects of an undisturbed run when it had settled so often; ok reports whether it did.
func (c *calmStates) at(h *history.History, settled int) (bodies map[history.Ref][]any, ok bool) {
	for ; h != nil && c.read < len(h.Events) && c.settled < settled; c.read++ {
		c.take(&h.Events[c.read])
	}
	if c.settled < settled {
		return nil, false
	}
	return c.bodies(), true
}

// states follows the objects of a run.
type states struct {
	of      []history.Ref
	live    map[history.Ref][]byte
	settled int  // how many Settles there were
	rest    bool // the latest event was one
	now     history.Time
	// failures is how many attempts of programs have failed.
	failures int
	// drawn is, by what the server has drawn at random, what to read in its place: UIDs and
	// generated names.
	drawn map[string]string
}

func (s *states) take(e *history.Event) {
	if s.live == nil {
		s.live, s.drawn = map[history.Ref][]byte{}, map[string]string{}
	}
	s.rest, s.now = e.Kind == history.Settled, e.At
	if e.Kind == history.Crash || e.Kind == history.Stop || e.Kind == history.Done && e.Outcome.Failed() ||
		e.Kind == history.Request && e.Incarnation > 0 && (e.Code == 0 || e.Code >= http.StatusInternalServerError) {
		s.failures++
	}
	for _, c := range e.Changes {
		if c.Type == "ADDED" {
			s.drawn[c.UID] = "a UID"
			if g := metadataOf(c.Object, "generateName").GenerateName; g != "" && g != c.Ref.Name {
				s.drawn[c.Ref.Name] = g + "…"
			}
		}
		// Objects with allocated values are kept even if they are not compared: their values may be
		// copied.
		if delete(s.live, c.Ref); c.Type != "DELETED" && (anyOf(s.of, c.Ref) || rowsOf[kindOf(c.Ref)] != nil) {
			s.live[c.Ref] = c.Object
		}
	}
	if e.Kind == history.Settled {
		s.settled++
	}
}

// bodies are the objects without what differs between any two runs. Objects with generated names
// share one place.
func (s *states) bodies() map[history.Ref][]any {
	copies := map[string]bool{}
	kept := map[history.Ref]map[string]any{}
	for ref, object := range s.live {
		var o map[string]any
		if json.Unmarshal(object, &o) != nil {
			continue
		}
		if o = without(ref, o, func(v any) { copies[asText(v)] = true }); o != nil && anyOf(s.of, ref) {
			switch {
			case ref.Group != "":
			case ref.Kind == "ConfigMap":
				decodeData(o["binaryData"], func(string) {})
			case ref.Kind == "Secret":
				decodeData(o["data"], func(s string) {
					if isRandom(s) {
						copies[s] = true
					}
				})
			}
			kept[ref] = o
		}
	}
	r := s.reader(copies)
	out := map[history.Ref][]any{}
	for _, ref := range sorted(kept) {
		o := kept[ref]
		m, _ := o["metadata"].(map[string]any)
		if g, _ := m["generateName"].(string); g != "" {
			ref.Name = g + "…"
			delete(m, "name")
		}
		ref.Name, ref.Namespace = r.name(ref.Name), r.name(ref.Namespace)
		out[ref] = append(out[ref], r.plain(o))
	}
	return out
}

// decodeData decodes base64, so that a UID in a text is known again, and calls f with each text.
// Of what is no text, only that it is there is compared: a keystore, for one, has salt in it.
func decodeData(of any, f func(string)) {
	data, _ := of.(map[string]any)
	for key, v := range data {
		encoded, _ := v.(string)
		switch decoded, err := base64.StdEncoding.DecodeString(encoded); {
		case err != nil:
		case utf8.Valid(decoded):
			data[key] = string(decoded)
			f(string(decoded))
		case len(decoded) >= 16:
			data[key] = "no text"
		}
	}
}

var (
	randomText = regexp.MustCompile(`^[A-Za-z0-9+/=]{16,}$`)
	// What crypto/rand.Text makes has no digit in one of 200 cases.
	randomLetters = regexp.MustCompile(`^[A-Z]{20,}$`)
)

// isRandom reports whether a value of a Secret may be one that a program has drawn: a password, a
// token, a key, a certificate.
func isRandom(s string) bool {
	return strings.HasPrefix(s, "-----BEGIN ") || randomLetters.MatchString(s) ||
		randomText.MatchString(s) && strings.ContainsAny(s, "0123456789") && strings.Trim(s, "0123456789") != ""
}

// asText is an allocated value as a string would contain it.
func asText(v any) string {
	if n, ok := v.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// reader takes what differs between any two runs out of decoded objects.
type reader struct {
	words  *strings.Replacer      // for UIDs and generated names
	copies map[string]bool        // allocated values that may have been copied
	newest map[string]history.Ref // objects by their resource version
	longer []string               // the same, longer ones first
	now    history.Time
}

func (s *states) reader(copies map[string]bool) *reader {
	byLength := func(a, b string) int { // a name may begin with another one
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	}
	var pairs []string
	for _, drawn := range slices.SortedFunc(maps.Keys(s.drawn), byLength) {
		pairs = append(pairs, drawn, s.drawn[drawn])
	}
	newest := map[string]history.Ref{}
	for ref, object := range s.live {
		newest[metadataOf(object, "resourceVersion").ResourceVersion] = ref
	}
	return &reader{strings.NewReplacer(pairs...), copies, newest, slices.SortedFunc(maps.Keys(copies), byLength), s.now}
}

// isUnixTime reports whether a number is a time of the run, or of the day after it, since 1970: in
// seconds, or in parts of a second.
func isUnixTime(n int64, now history.Time) bool {
	first, last := history.Date(0).Unix(), history.Date(now+24*time.Hour).Unix()
	for unit := int64(1); unit <= 1e9; unit *= 1000 {
		if n >= first*unit && n < last*unit {
			return true
		}
	}
	return false
}

// ephemeral are fields that differ between any two runs, wherever they are, and the annotation that
// fault.Conflict writes.
var ephemeral = []string{"uid", "resourceVersion", "generation", "observedGeneration", "managedFields",
	"wavetank.example/touched"}

// allocatedHere is what a copy of an allocated value reads like.
const allocatedHere = "an allocated value"

// name is the name of an object without what was drawn or allocated.
func (r *reader) name(s string) string {
	s = r.words.Replace(s)
	for _, c := range r.longer {
		s = word.Replace(s, c, "…")
	}
	return s
}

func (r *reader) plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return r.plainMap(v)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = r.plain(x)
		}
		return out
	case float64:
		if r.copies[asText(v)] {
			return allocatedHere
		}
		if math.Abs(v) < math.MaxInt64 && isUnixTime(int64(v), r.now) {
			return "a time"
		}
	case string:
		if _, err := time.Parse(time.RFC3339, v); err == nil {
			return "a time"
		}
		if n, err := strconv.ParseInt(v, 10, 64); err == nil && isUnixTime(n, r.now) {
			return "a time"
		}
		if of, is := r.newest[v]; is {
			return copiedVersion{v, of}
		}
		v = r.words.Replace(v)
		for _, c := range r.longer {
			v = word.Replace(v, c, allocatedHere)
		}
		return v
	}
	return v
}

func (r *reader) plainMap(v map[string]any) map[string]any {
	same := map[string][]any{} // by what keys read like: there may be several generated names among them
	for k, x := range v {
		if slices.Contains(ephemeral, k) {
			continue
		}
		if y := r.plain(x); k != "annotations" || !isEmpty(y) {
			same[r.words.Replace(k)] = append(same[r.words.Replace(k)], y)
		}
	}
	out := map[string]any{}
	for k, all := range same {
		if out[k] = all[0]; len(all) > 1 {
			slices.SortFunc(all, func(a, b any) int { return strings.Compare(text(a), text(b)) })
			out[k] = all
		}
	}
	return out
}

// isEmpty reports whether a value is a map with nothing in it.
func isEmpty(v any) bool {
	m, is := v.(map[string]any)
	return is && len(m) == 0
}
