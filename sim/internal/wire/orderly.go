package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// orderly writes the answer of a webhook with the operations of its patch in one order, where they mean the same in any.
// gomodules.xyz/jsonpatch, with which controller-runtime makes patches, goes through objects in map order: two runs of a
// correct webhook would send different bytes.
func orderly(body []byte) []byte {
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
		if json.Unmarshal(r, &o) != nil || !slices.Contains([]string{"add", "remove", "replace"}, o.Op) || !strings.HasPrefix(o.Path, "/") {
			return body // the others look at more than one place
		}
		ops[i] = operation{strings.Split(o.Path[1:], "/"), r}
	}
	arrange(ops, 0)
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

// arrange sorts operations, whose paths begin alike, by the part of their paths at depth. Those on different fields of an object
// can be done in any order; those on an array, or on the object itself and on what is in it, cannot.
func arrange(ops []operation, depth int) {
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
		arrange(ops[:n], depth+1)
		ops = ops[n:]
	}
}

// isIndex says whether a part of a path may be the index of an array.
func isIndex(part string) bool {
	return part == "-" || strings.Trim(part, "0123456789") == ""
}
