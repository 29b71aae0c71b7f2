package run

import (
	"fmt"
	"regexp"
	"strings"
)

// Assertion libraries print addresses, which differ from run to run, and paths, which differ from
// machine to machine.
var (
	addresses = regexp.MustCompile(`0x[0-9a-f]{4,}`)
	paths     = regexp.MustCompile(`/[^\s:]*/([^/\s:]+\.go:[0-9]+)`)
)

// WithoutAddresses takes out of a text what differs from run to run.
func WithoutAddresses(text string) string { return addresses.ReplaceAllString(text, "0x…") }

// Repeatable takes out of a message what a second run, or another machine, would not print.
func Repeatable(message string) string {
	return paths.ReplaceAllString(WithoutAddresses(strings.TrimSpace(message)), "$1")
}

// Instead says what to do about a program that dials by itself: by net/http's transport, or to
// speak another protocol.
func Instead(byHTTP bool) string {
	if byHTTP {
		return "Give the client there sim.HTTPClient(mgr), and declare a model of whom it calls with " +
			"w.External(host, handler), the host as its URLs have it."
	}
	return "No HTTP client dials there, and other protocols are not modelled (SQL, gRPC, and exec, attach and " +
		"port-forward of Pods): put an interface there, and give the program another implementation in the test."
}

// ConnectedAt says that a run has connected to the real network at file:line.
func ConnectedAt(site string, byHTTP bool) string {
	return fmt.Sprintf("code in this run has connected to the real network at %s. It dials an address, or a name in "+
		"the hosts file, with a context that is not the reconcile's; only exact mode can refuse that "+
		"(wavetank run --exact). %s", site, Instead(byHTTP))
}
