// Package kept spares decoding. One version of an object is read by many: built-in controllers,
// properties and the API model. Most versions of one run appear in the next one, too.
package kept

import (
	"bytes"
	"hash/maphash"
	"sync/atomic"
)

// most is how many results each function keeps. More hardly find anything: a run reads what was
// written last.
const most = 256

type result[T any] struct {
	of    []byte
	value T
}

// Of returns a function that gives what read gives, and calls it once for bytes that are read again
// soon. The result must depend on the bytes alone. All callers share it and must not change it.
func Of[T any](read func([]byte) T) func([]byte) T {
	var results [most]atomic.Pointer[result[T]]
	seed := maphash.MakeSeed() // says where a result lies, not what it is
	return func(b []byte) T {
		at := &results[maphash.Bytes(seed, b)%most]
		if r := at.Load(); r != nil && bytes.Equal(r.of, b) {
			return r.value
		}
		value := read(b)
		at.Store(&result[T]{bytes.Clone(b), value}) // the caller may use b for something else
		return value
	}
}
