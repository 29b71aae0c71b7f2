package sim_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// surfer reaches for the real network in each reconcile, and lives with errors.
type surfer struct {
	url    string
	client *http.Client
	dial   bool // with a dialer of its own and not with the client
	tcp    bool // with net.DialTCP
	own    bool // with a context of its own and not with the reconcile's
	worker bool // in a Runnable and not in a reconcile
}

func (s *surfer) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	if s.own {
		ctx = context.Background()
	}
	if s.tcp {
		host, port, _ := strings.Cut(strings.TrimPrefix(s.url, "http://"), ":")
		n, _ := strconv.Atoi(port)
		conn, err := net.DialTCP("tcp", nil, &net.TCPAddr{IP: net.ParseIP(host), Port: n}) // the line of TCP
		if err == nil {
			conn.Close()
		}
		return reconcile.Result{}, nil
	}
	if s.dial {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(s.url, "http://")) // the dialer's line
		if err == nil {
			conn.Close()
		}
		return reconcile.Result{}, nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, nil)
	if err != nil {
		return reconcile.Result{}, err
	}
	resp, err := s.client.Do(req) // the client's line
	if err == nil {
		resp.Body.Close()
	}
	return reconcile.Result{}, nil
}

// count is an outside server that no run may reach. It counts connections, and keeps those that
// clients keep.
func count(t *testing.T) (address string, connections *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	connections = &atomic.Int32{}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}), ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return l.Addr().String(), connections
}

// lineOf is the place in this file of a comment at the end of a line.
func lineOf(t *testing.T, comment string) string {
	t.Helper()
	source, err := os.ReadFile("network_test.go")
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(source), comment+"\n")
	if !found {
		t.Fatalf("%q stands nowhere", comment)
	}
	return fmt.Sprintf("network_test.go:%d", strings.Count(before, "\n")+1)
}

// proxy is a model that asks another host, with the context of the program's request.
func proxy(w http.ResponseWriter, r *http.Request) {
	req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, "http://real.example", nil)
	if err == nil {
		_, err = (&http.Client{Transport: &http.Transport{}}).Do(req) // the model's line
	}
	http.Error(w, fmt.Sprint(err), http.StatusBadGateway)
}

// surf is a scenario of a surfer.
func surf(s *surfer) func(*sim.World) {
	return func(w *sim.World) {
		w.External("dns.example", http.NotFoundHandler())
		w.External("proxy.example", http.HandlerFunc(proxy))
		w.Start("surfer", func(mgr ctrl.Manager) error {
			if s.worker {
				return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
					_, err := s.Reconcile(ctx, reconcile.Request{})
					return err
				}))
			}
			return ctrl.NewControllerManagedBy(mgr).Named("surfer").For(&corev1.ConfigMap{}).Complete(s)
		})
		w.Apply(simtest.ConfigMap("a"))
		w.Settle()
	}
}

// What an operator dials by itself fails the run by name, whatever the operator makes of the error,
// and does not connect. Each case is a process, as a name server that was never asked before ended
// the whole process once.
func TestRealNetworkIsRefused(t *testing.T) {
	const guard, reached = "WAVETANK_TEST_NETWORK", "connections: "
	clients, dialer := lineOf(t, "// the client's line"), lineOf(t, "// the dialer's line")
	other := []string{"No HTTP client dials there", "put an interface there"}
	cases := map[string]struct {
		surfer
		warm      bool // the resolver has been used before
		clone     bool // of http.DefaultTransport, made in the run
		host      string
		dials, at string
		says      []string // what to do; by default, to use the world's client
	}{
		"name":       {host: "dns.example", dials: "surfer dials dns.example", at: clients},
		"name, warm": {host: "dns.example", warm: true, dials: "surfer dials dns.example", at: clients},
		"name without context": {host: "dns.example", surfer: surfer{own: true}, dials: "dials dns.example",
			at: clients},
		"name, no context, warm": {host: "dns.example", surfer: surfer{own: true}, warm: true,
			dials: "dials dns.example", at: clients},
		"name and dialer": {host: "dns.example:80", surfer: surfer{own: true, dial: true},
			dials: "dials dns.example", at: dialer, says: other},
		"name of the hosts file": {host: "localhost:PORT", dials: "surfer dials localhost itself", at: clients},
		"address":                {host: "127.0.0.1:PORT", dials: "surfer dials 127.0.0.1:", at: clients},
		"address and Runnable": {host: "127.0.0.1:PORT", surfer: surfer{worker: true},
			dials: "surfer dials 127.0.0.1:", at: clients},
		"address and dialer": {host: "127.0.0.1:PORT", surfer: surfer{dial: true},
			dials: "surfer dials 127.0.0.1:", at: dialer, says: other},
		"model": {host: "proxy.example", surfer: surfer{client: http.DefaultClient},
			dials: "dials real.example", at: lineOf(t, "// the model's line")},
		"default client": {host: "real.example", surfer: surfer{client: http.DefaultClient, own: true},
			dials: `code in this run sent POST http://real.example`, at: clients +
				` with a context of no reconcile, and the world has no host "real.example"`},
		"default client, declared": {host: "dns.example", surfer: surfer{client: http.DefaultClient, own: true},
			dials: `so the world does not know which process sent it, and w.External("dns.example", …) did not get it`,
			at:    clients},
		"clone of the default one": {host: "dns.example", surfer: surfer{client: &http.Client{}}, clone: true,
			dials: "surfer dials dns.example:80 itself", at: clients},
	}
	if name := os.Getenv(guard); name != "" {
		c := cases[name]
		address, connections := count(t)
		defer func() { fmt.Println(reached, connections.Load()) }()
		_, port, _ := net.SplitHostPort(address)
		c.url = "http://" + strings.Replace(c.host, "PORT", port, 1)
		if c.client == nil {
			c.client = &http.Client{Transport: &http.Transport{}, Timeout: 5 * time.Second}
		}
		if c.warm {
			net.DefaultResolver.LookupHost(context.Background(), "localhost.") //nolint:errcheck // it was asked
		}
		scenario := surf(&c.surfer)
		sim.Check(t, func(w *sim.World) {
			if c.clone {
				c.client.Transport = http.DefaultTransport.(*http.Transport).Clone()
			}
			scenario(w)
		}, sim.Runs(2))
		return
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestRealNetworkIsRefused$")
			cmd.Env = append(os.Environ(), guard+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Error("the run passed")
			}
			if c.says == nil {
				c.says = []string{"sim.HTTPClient(mgr)", "w.External("}
			} else if strings.Contains(string(out), "sim.HTTPClient(mgr)") {
				t.Errorf("it advises a client that cannot serve it:\n%s", out)
			}
			for _, want := range append(c.says, c.dials, c.at, reached+" 0",
				"--- FAIL: TestRealNetworkIsRefused") {
				if !strings.Contains(string(out), want) {
					t.Errorf("it does not say %q:\n%s", want, out)
				}
			}
		})
	}
}

// An address that is dialled without the reconcile's context cannot be refused by stock Go. The run
// fails afterwards, by name, whether the server answers, is not there, or holds the connection, on
// which the run hangs.
func TestRealNetworkIsReported(t *testing.T) {
	const guard = "WAVETANK_TEST_NOTICED"
	cases := map[string]surfer{
		"answers":     {client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}},
		"is not":      {client: &http.Client{Transport: &http.Transport{}}},
		"keeps alive": {client: &http.Client{Transport: &http.Transport{}}},
		"dialer":      {dial: true},
		"DialTCP":     {tcp: true},
	}
	if name := os.Getenv(guard); name != "" {
		s := cases[name]
		address, connections := count(t)
		if name == "is not" {
			address = "127.0.0.1:1"
		}
		s.url, s.own = "http://"+address, true
		defer func() { fmt.Println("connections:", connections.Load()) }()
		sim.Check(t, surf(&s), sim.Runs(2), sim.Stories(os.Getenv(guard+"_STORIES")))
		return
	}
	for name, s := range cases {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestRealNetworkIsReported$", "-sim.hang=1s")
			cmd.Env = append(os.Environ(), guard+"="+name, guard+"_STORIES="+t.TempDir())
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Error("the run passed")
			}
			at := lineOf(t, "// the client's line")
			if s.dial {
				at = lineOf(t, "// the dialer's line")
			} else if s.tcp {
				at = lineOf(t, "// the line of TCP")
			}
			where := "has connected to the real network at " + at
			if strings.Contains(string(out), " itself at ") { // exact mode refuses
				where = "itself at " + at
			}
			advice := "sim.HTTPClient(mgr)"
			if s.dial || s.tcp {
				advice = "put an interface there"
			}
			simtest.Contains(t, string(out), where, advice, "--- FAIL: TestRealNetworkIsReported")
		})
	}
}
