package conformance

// The language of scripts. A row is mostly "send these five requests", and a line for each reads
// better than Go; the differential test prints its shrunk operation lists in the same language, so
// that a difference it finds can be pasted into the table as a row.

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

var patchTypes = map[string]string{
	"MERGE":     "application/merge-patch+json",
	"JSON":      "application/json-patch+json",
	"STRATEGIC": "application/strategic-merge-patch+json",
	"APPLY":     "application/apply-patch+yaml",
}

var accepts = map[string]string{
	"meta":     "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
	"metalist": "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
	"table":    "application/json;as=Table;g=meta.k8s.io;v=v1",
}

// Script runs one step a line.
//
//	POST cm {metadata: {name: a}}     a request; a YAML body gets its apiVersion and kind here
//	PUT cm/a $obj1 & {data: {k: v}}   the object of step 1 with a merge patch upon it
//	MERGE cm/a {data: {k: v}}         a patch: MERGE, JSON, STRATEGIC or APPLY
//	POST cm !{...}                    the body as it stands
//	GET+meta cm/a                     as PartialObjectMetadata; also +metalist, +table
//	WATCH cm?resourceVersion=$rv1     opens a stream
//	READ n                            takes n frames of the newest stream, READ2 n of the second
//	END                               reads the newest stream to its end
//	COMPACT                           the store forgets its history
//	SLEEP 100ms
//	SETTLE 1500ms                     waits for the real server's controllers; the model has none
//	MUTATING /label/x then /tell {}   has webhooks called from now on ([hooks]); also VALIDATING
//	GIZMOS gizmo {...} & {...}        defines gizmos by rows/gizmo.yaml; more of v1, more versions
//	bob: PUT cm/a {...}               the same by a client bob, who remembers only his own replies
//	as bob,crew: GET /api/v1/pods     as a user with groups; a body is YAML, PATCH a merge patch
//
// $rvN, $uidN, $nameN and $contN are resourceVersion, uid, name and continue token in the reply to
// step N ($rvN+5 adds), $rv(cm/a,0) is the newest version seen of an object and $rv(cm/a,1) the one
// before; $ns is the row's namespace and $big(n) a text of n letters. Other names are those of
// rows/names.txtar.
func (t *T) Script(lines ...string) {
	for _, line := range named(lines...) {
		if line != "" {
			t.step(line)
		}
	}
}

func (t *T) step(line string) {
	t.speaking = ""
	if request, ok := strings.CutPrefix(line, "as "); ok {
		t.as(request)
		return
	}
	words := line
	if who, what, ok := strings.Cut(line, ": "); ok && !strings.Contains(who, " ") {
		t.speaking, words = who, what
	}
	verb, rest, _ := strings.Cut(words, " ")
	verb, as, _ := strings.Cut(verb, "+")
	target, body, hasBody := strings.Cut(t.expand(rest), " ")
	switch {
	case verb == "COMPACT":
		if err := t.arm.Compact(t.Ctx); err != nil {
			panic(abort("compacting: " + err.Error()))
		}
		return
	case verb == "SLEEP", verb == "SETTLE":
		d, err := time.ParseDuration(target)
		if err != nil {
			panic(abort(err.Error()))
		}
		if _, atOnce := t.arm.(*Model); verb == "SLEEP" || !atOnce {
			time.Sleep(d)
		}
		return
	case verb == "END":
		t.Read(line, len(t.streams)-1, -1)
		return
	case strings.HasPrefix(verb, "READ"):
		which := len(t.streams)
		if ordinal := strings.TrimPrefix(verb, "READ"); ordinal != "" {
			which, _ = strconv.Atoi(ordinal)
		}
		n, err := strconv.Atoi(target)
		if err != nil {
			panic(abort(line + ": how many frames?"))
		}
		t.Read(line, which-1, n)
		return
	}
	if verb == "GIZMOS" || verb == "MUTATING" || verb == "VALIDATING" {
		t.prepare(verb, t.expand(rest))
		return
	}
	p, k, err := path(target, t.Namespace)
	if err != nil {
		panic(abort(err.Error()))
	}
	if verb == "WATCH" {
		t.Watch(line, withQuery(p, "watch=true"))
		return
	}
	header := http.Header{}
	if as != "" {
		header.Set("Accept", accepts[as])
	}
	method := verb
	if ct, ok := patchTypes[verb]; ok {
		method = http.MethodPatch
		header.Set("Content-Type", ct)
	}
	var data []byte
	if hasBody {
		data = bodyOf(body, k, method == http.MethodPost || method == http.MethodPut || verb == "APPLY")
	}
	t.Do(line, method, p, header, data)
}

// as sends a request as a user with groups. The administrator, who may impersonate anybody,
// impersonates them.
func (t *T) as(request string) {
	who, what, _ := strings.Cut(request, ": ")
	names := strings.Split(t.ns(who), ",")
	method, what, _ := strings.Cut(what, " ")
	path, body, _ := strings.Cut(what, " ")
	step := who + ": " + method + " " + path
	header := http.Header{"Impersonate-User": names[:1]}
	if len(names) > 1 {
		header["Impersonate-Group"] = names[1:]
	}
	switch method {
	case "APPLY":
		header.Set("Content-Type", patchTypes["APPLY"])
		method = http.MethodPatch
	case http.MethodPatch:
		header.Set("Content-Type", patchTypes["MERGE"])
	}
	var raw []byte
	if body != "" {
		raw = t.yaml(body)
	}
	t.Do(step, method, t.ns(path), header, raw)
}

func (t *T) yaml(text string) []byte {
	raw, err := fromYAML(t.ns(text))
	if err != nil {
		panic(abort(err.Error()))
	}
	return raw
}

func (t *T) ns(text string) string { return strings.ReplaceAll(text, "$ns", t.Namespace) }

// learn gives the real server the time to learn of what was written. The model judges by what is
// stored.
func (t *T) learn() { t.step("SETTLE 1s") }

// prepare makes what the steps that follow need. It is no step of the row, whose time begins after
// it.
func (t *T) prepare(verb, what string) {
	if verb == "GIZMOS" {
		schema, versions, _ := strings.Cut(what, " ")
		all := strings.Split(versions, " & ")
		t.define(gizmos(schema, all[0], all[1:]...))
	} else {
		t.configure(verb == "MUTATING", strings.Split(what, " then ")...)
	}
	t.started = time.Now()
}

func withQuery(p, q string) string {
	if strings.Contains(p, "?") {
		return p + "&" + q
	}
	return p + "?" + q
}

// bodyOf reads a script's body. Whole objects get their type from the target when they do not say
// it.
func bodyOf(text string, k kind, whole bool) []byte {
	if raw, ok := strings.CutPrefix(text, "!"); ok {
		return []byte(raw)
	}
	base, patch, patched := text, "", false
	if strings.HasPrefix(text, "{\"") {
		base, patch, patched = strings.Cut(text, " & ")
	}
	data, err := fromYAML(base)
	if err != nil {
		panic(abort(fmt.Sprintf("%s: %v", base, err)))
	}
	if patched {
		change, err := fromYAML(patch)
		if err != nil {
			panic(abort(fmt.Sprintf("%s: %v", patch, err)))
		}
		if data, err = jsonpatch.MergePatch(data, change); err != nil {
			panic(abort(err.Error()))
		}
	}
	var object map[string]any
	if !whole || k.kind == "" || json.Unmarshal(data, &object) != nil || object == nil {
		return data
	}
	if _, typed := object["kind"]; !typed {
		object["kind"], object["apiVersion"] = k.kind, k.apiVersion
	}
	data, _ = json.Marshal(object)
	return data
}

var references = regexp.MustCompile(
	`\$(ns\b|big\(\d+\)|(?:rv|uid|name|cont|obj)\d+(?:\+\d+)?|(?:rv|uid|cont)\([^)]*\))`)

// expand replaces references by what this arm replied.
func (t *T) expand(text string) string {
	return references.ReplaceAllStringFunc(text, func(ref string) string {
		ref = ref[1:]
		switch {
		case ref == "ns":
			return t.Namespace
		case strings.HasPrefix(ref, "big("):
			n, _ := strconv.Atoi(strings.Trim(ref[3:], "()"))
			return strings.Repeat("x", n)
		case strings.HasSuffix(ref, ")"):
			what, args, _ := strings.Cut(strings.TrimSuffix(ref, ")"), "(")
			return t.recall(what, args)
		}
		what := strings.TrimRight(ref, "0123456789+")
		number, plus, _ := strings.Cut(ref[len(what):], "+")
		n, _ := strconv.Atoi(number)
		if n < 1 || n > len(t.replies) {
			panic(abort(fmt.Sprintf("$%s: there are only %d replies", ref, len(t.replies))))
		}
		v := field(t.replies[n-1].body, what)
		if plus != "" {
			base, _ := strconv.Atoi(v)
			add, _ := strconv.Atoi(plus)
			return strconv.Itoa(base + add)
		}
		return v
	})
}

// field takes from a reply what a reference asks for.
func field(body any, what string) string {
	object, _ := body.(map[string]any)
	if what == "obj" {
		data, _ := json.Marshal(object)
		return string(data)
	}
	meta, _ := object["metadata"].(map[string]any)
	key := map[string]string{"rv": "resourceVersion", "uid": "uid", "name": "name", "cont": "continue"}[what]
	v, _ := meta[key].(string)
	return v
}

// recall finds what the arm last told the present client of an object: args is "kind/name,back". An
// object never seen has the version at which the namespace was made and a UID that no object has,
// so that generated sequences can always be formed.
func (t *T) recall(what, args string) string {
	target, number, _ := strings.Cut(args, ",")
	back, _ := strconv.Atoi(number)
	want, _, err := path(target, t.Namespace)
	if err != nil {
		panic(abort(err.Error()))
	}
	var known []string
	for i := len(t.replies) - 1; i >= 0; i-- {
		r := t.replies[i]
		at, _, _ := strings.Cut(r.target, "?")
		if v := field(r.body, what); v != "" && r.code < 300 && r.client == t.speaking &&
			(at == want || owns(at, want, r.body)) &&
			(len(known) == 0 || known[len(known)-1] != v) {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		return map[string]string{"rv": t.born, "uid": "00000000-0000-0000-0000-000000000000"}[what]
	}
	return known[min(back, len(known)-1)]
}

// owns reports whether the reply to a request at a collection or a subresource shows the wanted
// object.
func owns(at, want string, body any) bool {
	return at+"/"+field(body, "name") == want || strings.HasPrefix(at, want+"/")
}

// fromYAML reads YAML by the newer rules, in which y and n are letters.
func fromYAML(text string) ([]byte, error) {
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}
