package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// sortPatch sorts the operations of the patch in a webhook's answer, where they mean the same in
// any order. controller-runtime makes patches with gomodules.xyz/jsonpatch, which goes through
// objects in map order. Two runs of a correct webhook would send different bytes.
func sortPatch(body []byte) []byte {
	if !bytes.Contains(body, []byte(`"patch"`)) {
		return body
	}
	var review, response map[string]json.RawMessage
	var patch []byte
	var raw []json.RawMessage
	if json.Unmarshal(body, &review) != nil || json.Unmarshal(review["response"], &response) != nil ||
		json.Unmarshal(response["patch"], &patch) != nil || json.Unmarshal(patch, &raw) != nil {
		return body // the API server will say what is wrong with it
	}
	ops := make([]operation, len(raw))
	for i, r := range raw {
		var o struct{ Op, Path string }
		if json.Unmarshal(r, &o) != nil || !strings.HasPrefix(o.Path, "/") {
			return body
		}
		if !slices.Contains([]string{"add", "remove", "replace"}, o.Op) {
			return body // the others are about more than one place
		}
		ops[i] = operation{strings.Split(o.Path[1:], "/"), r}
	}
	sortOperations(ops, 0)
	for i := range ops {
		raw[i] = ops[i].raw
	}
	patch, _ = json.Marshal(raw) // all of it has just been read
	response["patch"], _ = json.Marshal(patch)
	review["response"], _ = json.Marshal(response)
	body, _ = json.Marshal(review)
	return body
}

type operation struct {
	path []string
	raw  json.RawMessage
}

// sortOperations sorts operations whose paths are equal up to depth, by the part at depth.
// Operations on different fields of an object can be done in any order. Those on an array, or on an
// object and on a field of it, cannot.
func sortOperations(ops []operation, depth int) {
	if len(ops) < 2 || slices.ContainsFunc(ops, func(o operation) bool { return len(o.path) <= depth }) {
		return
	}
	if slices.ContainsFunc(ops, func(o operation) bool { return !isIndex(o.path[depth]) }) {
		slices.SortStableFunc(ops, func(a, b operation) int { return strings.Compare(a.path[depth], b.path[depth]) })
	}
	for len(ops) > 0 {
		n := 1
		for n < len(ops) && ops[n].path[depth] == ops[0].path[depth] {
			n++
		}
		sortOperations(ops[:n], depth+1)
		ops = ops[n:]
	}
}

// isIndex reports whether a part of a path may be the index of an array.
func isIndex(part string) bool {
	return part == "-" || strings.Trim(part, "0123456789") == ""
}
