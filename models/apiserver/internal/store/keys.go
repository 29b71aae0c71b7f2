package store

import (
	"sort"
	"strings"
)

// chunkSize bounds a chunk of keys; a full chunk is split in two.
const chunkSize = 256

// keys is an ordered set of strings kept in short sorted chunks: finding a place is two binary
// searches and inserting moves at most one chunk, however many keys there are.
type keys struct {
	chunks [][]string
}

// find returns the chunk that holds key or should, and key's place in it.
func (k *keys) find(key string) (chunk, place int, found bool) {
	chunk = sort.Search(len(k.chunks), func(i int) bool {
		c := k.chunks[i]
		return c[len(c)-1] >= key
	})
	if chunk == len(k.chunks) {
		return chunk, 0, false
	}
	c := k.chunks[chunk]
	place = sort.SearchStrings(c, key)
	return chunk, place, place < len(c) && c[place] == key
}

func (k *keys) insert(key string) {
	chunk, place, found := k.find(key)
	if found {
		return
	}
	if chunk == len(k.chunks) {
		if chunk == 0 {
			k.chunks = append(k.chunks, append(make([]string, 0, 8), key))
			return
		}
		chunk--
		place = len(k.chunks[chunk])
	}
	c := append(k.chunks[chunk], "")
	copy(c[place+1:], c[place:])
	c[place] = key
	k.chunks[chunk] = c
	if len(c) >= chunkSize {
		k.split(chunk)
	}
}

func (k *keys) split(chunk int) {
	c := k.chunks[chunk]
	half := len(c) / 2
	upper := append(make([]string, 0, chunkSize), c[half:]...)
	clear(c[half:])
	k.chunks = append(k.chunks, nil)
	copy(k.chunks[chunk+2:], k.chunks[chunk+1:])
	k.chunks[chunk], k.chunks[chunk+1] = c[:half], upper
}

func (k *keys) remove(key string) {
	chunk, place, found := k.find(key)
	if !found {
		return
	}
	c := k.chunks[chunk]
	copy(c[place:], c[place+1:])
	c[len(c)-1] = ""
	if c = c[:len(c)-1]; len(c) > 0 {
		k.chunks[chunk] = c
		return
	}
	k.chunks = append(k.chunks[:chunk], k.chunks[chunk+1:]...)
}

// ascend visits the keys that have the prefix and are greater than after, in order, until visit
// returns false. The set must not change during the visit.
func (k *keys) ascend(prefix, after string, visit func(string) bool) {
	from := max(prefix, after)
	chunk, place, _ := k.find(from)
	for ; chunk < len(k.chunks); chunk, place = chunk+1, 0 {
		for _, key := range k.chunks[chunk][place:] {
			if !strings.HasPrefix(key, prefix) {
				return
			}
			if key > after && !visit(key) {
				return
			}
		}
	}
}
