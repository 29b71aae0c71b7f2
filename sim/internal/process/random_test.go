package process

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	cryptorand "crypto/rand"
	"fmt"
	"testing"

	"github.com/go-logr/logr"
)

// draw returns what each of several goroutines reads. One function begins all of them, and they
// read in a given order. The second also reads a single byte first, as some functions of crypto do
// by chance.
func draw(order ...int) []string {
	out := make([]string, len(order))
	turns, done := make([]chan bool, len(order)), make(chan bool)
	for i := range order {
		turns[i] = make(chan bool)
		go func() {
			<-turns[i]
			b := make([]byte, 16)
			for range 3 {
				if i == 1 && order[0] == 1 {
					cryptorand.Read(b[:1])
				}
				cryptorand.Read(b)
				out[i] += fmt.Sprintf("%x ", b)
			}
			done <- true
		}()
	}
	for _, i := range order {
		turns[i] <- true
		<-done
	}
	return out
}

// What a goroutine reads from crypto/rand does not depend on which goroutine reads first.
func TestGoroutinesReadTheSameBytesInAnyOrder(t *testing.T) {
	leave := Enter(logr.Discard(), Outside{})
	defer leave()
	var first []string
	for _, order := range [][]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}} {
		Seed(t, 7)
		got := draw(order...)
		Quiet()
		got = append(got, draw(order...)...)
		if first == nil {
			first = got
		}
		if fmt.Sprint(got) != fmt.Sprint(first) {
			t.Errorf("in the order %v the goroutines read\n%q; in the first order\n%q", order, got, first)
		}
	}
	seen := map[string]bool{}
	for _, s := range first {
		if seen[s] {
			t.Errorf("two goroutines read %s", s)
		}
		seen[s] = true
	}
}

// Keys come from the seed, and each start of a process makes others.
func TestKeysComeFromTheSeed(t *testing.T) {
	leave := Enter(logr.Discard(), Outside{})
	defer leave()
	keys := func(n uint64) (out []byte) {
		Seed(t, n)
		for range 2 {
			for range 16 {
				k, err := ecdsa.GenerateKey(elliptic.P256(), cryptorand.Reader)
				if err != nil {
					t.Fatal(err)
				}
				d, err := k.Bytes()
				if err != nil {
					t.Fatal(err)
				}
				if bytes.Contains(out, d) {
					t.Errorf("seed %d makes the key %x twice", n, d)
				}
				out = append(out, d...)
			}
			reseed(n)
		}
		return out
	}
	if first := keys(1); !bytes.Equal(first, keys(1)) {
		t.Error("one seed makes different keys")
	} else if bytes.Equal(first, keys(2)) {
		t.Error("two seeds make the same keys")
	}
}

// Single bytes vary, although they do not move the stream on.
func TestSingleRandomBytesVary(t *testing.T) {
	Seed(t, 3)
	seen := map[byte]bool{}
	for range 64 {
		var b [1]byte
		cryptorand.Read(b[:])
		seen[b[0]] = true
	}
	if len(seen) < 32 {
		t.Errorf("64 single bytes have %d values", len(seen))
	}
}
