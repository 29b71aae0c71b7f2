package conformance

// What two honest servers must differ in, and nothing else, is made equal here: UIDs become their
// order of appearance, revisions their rank, times their distance from the row's start in steps of
// ten seconds, generated names and allocated addresses their order of appearance. Everything that
// is not named in this file is compared as it came.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

type normaliser struct {
	namespace string
	started   time.Time
	managed   bool
	revisions []int64          // of objects, ascending
	prefixes  []*regexp.Regexp // names made of a generateName, in replies that are not objects
	uids      map[string]string
	names     map[string]string // generated name -> stand-in
	addresses map[string]string
	ports     map[string]string
}

// Normalise makes a row's observations comparable between arms.
func Normalise(observed []Observed, namespace string, started time.Time, managed bool) []Observed {
	n := &normaliser{
		namespace: namespace, started: started, managed: managed,
		uids: map[string]string{}, names: map[string]string{}, addresses: map[string]string{},
		ports: map[string]string{},
	}
	for _, o := range observed {
		if m := generateName.FindStringSubmatch(o.Step); m != nil {
			n.prefixes = append(n.prefixes, regexp.MustCompile(`\b`+regexp.QuoteMeta(m[1])+`[a-z0-9]{5}\b`))
		}
		n.collect(o.Body)
		for _, f := range o.Frames {
			n.collect(f)
		}
	}
	slices.Sort(n.revisions)
	n.revisions = slices.Compact(n.revisions)
	out := make([]Observed, len(observed))
	for i, o := range observed {
		out[i] = Observed{Step: n.text(o.Step), Code: o.Code, Error: n.text(o.Error), Body: n.value("", o.Body)}
		for k, v := range o.Header {
			if out[i].Header == nil {
				out[i].Header = map[string]string{}
			}
			out[i].Header[k] = n.text(v)
		}
		for _, f := range o.Frames {
			out[i].Frames = append(out[i].Frames, n.value("", f))
		}
	}
	return out
}

// collect learns the revisions of objects and the names that the server made up.
func (n *normaliser) collect(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n.collect(e)
		}
	case map[string]any:
		if meta, ok := v["metadata"].(map[string]any); ok && !isPosition(v) {
			n.collectMeta(meta)
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			n.collect(v[k])
		}
	}
}

func (n *normaliser) collectMeta(meta map[string]any) {
	text, _ := meta["resourceVersion"].(string)
	if rv, err := strconv.ParseInt(text, 10, 64); err == nil && rv > 0 {
		n.revisions = append(n.revisions, rv)
	}
	prefix, _ := meta["generateName"].(string)
	name, _ := meta["name"].(string)
	prefix = prefix[:min(len(prefix), longestPrefix)]
	if suffix, ok := strings.CutPrefix(name, prefix); ok && prefix != "" && len(suffix) == 5 {
		if _, known := n.names[name]; !known {
			n.names[name] = fmt.Sprintf("%s<generated-%d>", prefix, len(n.names)+1)
		}
	}
}

// longestPrefix is where the server cuts generateName, to leave room for five letters of its own.
const longestPrefix = 58

// isPosition tells objects whose resourceVersion is a position in the store's history (lists,
// tables and bookmarks) from those whose resourceVersion is their own.
func isPosition(object map[string]any) bool {
	if _, ok := object["items"]; ok {
		return true
	}
	kind, _ := object["kind"].(string)
	if strings.HasSuffix(kind, "List") || kind == "Table" {
		return true
	}
	meta, _ := object["metadata"].(map[string]any)
	_, named := meta["name"]
	return !named
}

func (n *normaliser) value(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		return n.object(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = n.value(key, e)
		}
		return out
	case string:
		return n.field(key, v)
	case json.Number:
		if key == "nodePort" || key == "healthCheckNodePort" {
			return nth(n.ports, v.String(), "port")
		}
	}
	return v
}

func (n *normaliser) object(v map[string]any) map[string]any {
	out := make(map[string]any, len(v))
	for _, k := range slices.Sorted(maps.Keys(v)) {
		e := v[k]
		switch {
		case k == "managedFields" && !n.managed:
			continue
		case k == "managedFields":
			out[k] = n.value(k, e)
			if entries, ok := out[k].([]any); ok {
				// They come by their times, to the second: which of two writes is the later one is
				// a matter of luck.
				slices.SortStableFunc(entries, byText)
			}
			continue
		case k == "metadata":
			if meta, ok := e.(map[string]any); ok {
				out[k] = n.metadata(meta, isPosition(v))
				continue
			}
		case k == "storageVersionHash" || k == "serverAddressByClientCIDRs":
			continue
		}
		out[k] = n.value(k, e)
	}
	sortAnyOrder(out)
	if out["kind"] == "Table" {
		withoutAges(out)
	}
	return out
}

// withoutAges takes away how many seconds old the objects in a table are.
func withoutAges(table map[string]any) {
	columns, _ := table["columnDefinitions"].([]any)
	rows, _ := table["rows"].([]any)
	for i, c := range columns {
		if column, _ := c.(map[string]any); column["name"] != "Age" {
			continue
		}
		for _, r := range rows {
			row, _ := r.(map[string]any)
			if cells, _ := row["cells"].([]any); i < len(cells) {
				if age, _ := cells[i].(string); seconds.MatchString(age) {
					cells[i] = "<seconds>"
				}
			}
		}
	}
}

var seconds = regexp.MustCompile(`^\d{1,2}s$`)

// sortAnyOrder sorts what the real server takes from a map and so says in any order: the causes of
// an error, with the sentence that joins them, and the resources of a custom group.
func sortAnyOrder(object map[string]any) {
	details, _ := object["details"].(map[string]any)
	causes, _ := details["causes"].([]any)
	if len(causes) > 1 {
		slices.SortFunc(causes, byText)
		message, _ := object["message"].(string)
		if head, list, ok := strings.Cut(message, ": ["); ok {
			parts := strings.Split(strings.TrimSuffix(list, "]"), ", ")
			slices.Sort(parts)
			object["message"] = head + ": [" + strings.Join(parts, ", ") + "]"
		}
	}
	if resources, ok := object["resources"].([]any); ok && object["kind"] == "APIResourceList" {
		slices.SortFunc(resources, byText)
	}
}

func byText(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) }

// withoutManagedFields cuts field ownership out of an object that a message quotes.
func withoutManagedFields(v string) string {
	for _, quote := range []string{`\"`, `"`} {
		start := strings.Index(v, ","+quote+"managedFields"+quote+":[")
		if start < 0 {
			continue
		}
		depth := 0
		for i, r := range v[start:] {
			if r == '[' {
				depth++
			}
			if r == ']' {
				if depth--; depth == 0 {
					return v[:start] + withoutManagedFields(v[start+i+1:])
				}
			}
		}
	}
	return v
}

func (n *normaliser) metadata(meta map[string]any, position bool) map[string]any {
	out := n.object(meta)
	text, ok := meta["resourceVersion"].(string)
	rv, err := strconv.ParseInt(text, 10, 64)
	if ok && err == nil && rv > 0 {
		rank, exact := slices.BinarySearch(n.revisions, rv)
		switch {
		case position && exact:
			out["resourceVersion"] = fmt.Sprintf("at %d", rank+1)
		case position:
			out["resourceVersion"] = fmt.Sprintf("at %d", rank)
		default:
			out["resourceVersion"] = fmt.Sprintf("version %d", rank+1)
		}
	}
	return out
}

var (
	long = regexp.MustCompile(`x{50,}`) // what $big made; a recording need not hold a megabyte of it
	uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	// structDiff is the difference of two internal Go structs, in a Go package that clients cannot
	// see, that the real server puts behind one sentence about pods.
	structDiff   = regexp.MustCompile(`\n@@ -\d[\s\S]*\n`)
	pageToken    = regexp.MustCompile(`continue=[A-Za-z0-9_-]{20,}`)
	generateName = regexp.MustCompile(`generateName: ([^,}$ ]+)[,}]`)
	address      = regexp.MustCompile(`\b10\.(?:9[6-9]|10\d|11[01])\.\d+\.\d+\b`)
	timestamp    = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	positions    = []*regexp.Regexp{
		regexp.MustCompile(`(ResourceVersion in object meta: )(\d+)`),
		regexp.MustCompile(`(ResourceVersion in precondition: )(\d+)`),
		regexp.MustCompile(`(the ResourceVersion in (?:the precondition|record) \()(\d+)`),
		regexp.MustCompile(`(too old resource version: \d+ )(\(\d+\))`),
		regexp.MustCompile(`(too old resource version: )(\d\d+)`),
		regexp.MustCompile(`(Too large resource version: )(\d+)`),
		regexp.MustCompile(`(, current: )(\d+)`),
		regexp.MustCompile(`("resourceVersion\\?":\\?")(\d+)`), // of an object quoted in a message
	}
)

func (n *normaliser) field(key, v string) string {
	if key == "continue" && v != "" {
		return "<continue>"
	}
	return n.text(v)
}

func (n *normaliser) text(v string) string {
	v = strings.ReplaceAll(v, n.namespace, "$ns")
	if !n.managed {
		v = withoutManagedFields(v)
	}
	// Longest first: one generated name may begin another.
	for _, name := range slices.SortedFunc(maps.Keys(n.names), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	}) {
		v = strings.ReplaceAll(v, name, n.names[name])
	}
	v = long.ReplaceAllStringFunc(v, func(s string) string { return fmt.Sprintf("<%d x>", len(s)) })
	v = structDiff.ReplaceAllString(v, "")
	v = pageToken.ReplaceAllString(v, "continue=<continue>")
	v = uuid.ReplaceAllStringFunc(v, func(s string) string {
		if strings.HasPrefix(s, "00000000-") {
			return s
		}
		return nth(n.uids, s, "uid")
	})
	for _, p := range n.prefixes {
		v = p.ReplaceAllStringFunc(v, func(s string) string { return s[:len(s)-5] + "<generated>" })
	}
	v = address.ReplaceAllStringFunc(v, func(s string) string { return nth(n.addresses, s, "address") })
	v = timestamp.ReplaceAllStringFunc(v, n.time)
	for _, p := range positions {
		v = p.ReplaceAllString(v, "${1}<revision>")
	}
	return v
}

// time is the distance from the row's start in tens of seconds, the bounds put where no row's time
// falls; a time far from the start was given by the row and stays.
func (n *normaliser) time(s string) string {
	at, err := time.Parse(time.RFC3339, s)
	if err != nil || at.Sub(n.started).Abs() > 24*time.Hour {
		return s
	}
	return fmt.Sprintf("<start+%ds>", int(math.Floor((at.Sub(n.started).Seconds()+7)/10))*10)
}

func nth(known map[string]string, s, what string) string {
	if _, ok := known[s]; !ok {
		known[s] = fmt.Sprintf("<%s-%d>", what, len(known)+1)
	}
	return known[s]
}

// decode keeps numbers as they were written. It returns the text if that is not JSON.
func decode(data []byte) any {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return string(data)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return string(data)
	}
	return v
}
