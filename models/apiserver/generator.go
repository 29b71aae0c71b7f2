package apiserver

import (
	"encoding/hex"

	"k8s.io/apimachinery/pkg/types"
)

// generator makes everything about objects that a real server draws at random. It is a counter
// hashed with the seed, so the same requests give the same names.
type generator struct {
	seed  uint64
	count uint64
}

// next is one step of the splitmix64 generator.
func (g *generator) next() uint64 {
	g.count++
	z := g.seed*0xd1342543de82ef95 + g.count*0x9e3779b97f4a7c15
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// uid is a random UUID (version 4) in form.
func (g *generator) uid() types.UID {
	var raw [16]byte
	for half := range 2 {
		bits := g.next()
		for i := range 8 {
			raw[half*8+i] = byte(bits >> (8 * i))
		}
	}
	raw[6] = raw[6]&0x0f | 0x40
	raw[8] = raw[8]&0x3f | 0x80
	var text [36]byte
	hex.Encode(text[0:8], raw[0:4])
	hex.Encode(text[9:13], raw[4:6])
	hex.Encode(text[14:18], raw[6:8])
	hex.Encode(text[19:23], raw[8:10])
	hex.Encode(text[24:36], raw[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return types.UID(text[:])
}

// suffixLetters and the lengths are those of
// staging/src/k8s.io/apiserver/pkg/storage/names/generate.go.
const (
	suffixLetters   = "bcdfghjklmnpqrstvwxz2456789"
	suffixLength    = 5
	maxGeneratedTop = 63 - suffixLength
)

// name is a name made from a generateName prefix.
func (g *generator) name(prefix string) string {
	if len(prefix) > maxGeneratedTop {
		prefix = prefix[:maxGeneratedTop]
	}
	bits := g.next()
	var suffix [suffixLength]byte
	for i := range suffix {
		suffix[i] = suffixLetters[bits%uint64(len(suffixLetters))]
		bits /= uint64(len(suffixLetters))
	}
	return prefix + string(suffix[:])
}
