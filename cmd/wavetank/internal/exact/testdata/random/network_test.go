package random

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
)

// TestNetwork says whether a bubble can connect to an address, and what the resolver is asked when it cannot. Outside of bubbles
// all must connect.
func TestNetwork(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	asked := ""
	before := net.DefaultResolver
	defer func() { net.DefaultResolver = before }()
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(_ context.Context, network, address string) (net.Conn, error) {
		asked = network + " " + address
		return nil, errors.New("refused")
	}}
	dial := func() string {
		asked = ""
		conn, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			conn.Close()
			return "connected"
		}
		if !strings.Contains(err.Error(), "refused") || asked != "wavetank tcp "+l.Addr().String() {
			return fmt.Sprintf("%v after %q", err, asked)
		}
		return "refused"
	}
	outside, inside := dial(), ""
	synctest.Test(t, func(*testing.T) { inside = dial() })
	fmt.Printf("%s, in a bubble %s\n", outside, inside)
}
