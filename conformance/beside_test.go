//go:build conformance

package conformance

// What the model costs, compared with the other ways to test a controller: envtest, which starts a
// real kube-apiserver, and controller-runtime's fake client. make bench-beside measures them in
// turn and writes the tables of docs/speed.md.

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var besideWrite = flag.String("beside.write", "", "measure, and write the tables into this page")

const (
	rounds    = 5 // of which the median counts
	besideTop = "<!-- Made by make bench-beside. Do not edit. -->\n"
	besideEnd = "<!-- End of what make bench-beside made. -->\n"
)

func TestBeside(t *testing.T) {
	if *besideWrite == "" {
		t.Skip("make bench-beside measures")
	}
	before := loadAverage(t)
	var b strings.Builder
	worlds(t, &b)
	requests(t, &b)
	page, err := os.ReadFile(*besideWrite)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(page), besideTop)
	_, tail, ended := strings.Cut(rest, besideEnd)
	if !found || !ended {
		t.Fatalf("%s has no place for the tables, between %q and %q", *besideWrite, besideTop, besideEnd)
	}
	load := fmt.Sprintf("The load average was %s before and %s after.\n", before, loadAverage(t))
	t.Log("\n" + b.String() + load)
	if err := os.WriteFile(*besideWrite, []byte(head+besideTop+load+b.String()+besideEnd+tail), 0o666); err != nil {
		t.Fatal(err)
	}
}

// loadAverage is that of the last minute.
func loadAverage(t *testing.T) string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		t.Fatal(err)
	}
	load, _, _ := strings.Cut(string(data), " ")
	return load
}

// median is the middle of some measurements.
func median(of []time.Duration) time.Duration { return slices.Sorted(slices.Values(of))[len(of)/2] }

// ratio says how many times as long one takes as another.
func ratio(a, b time.Duration) string { return fmt.Sprintf("%.1f", float64(a)/float64(b)) }

// micro is a duration in microseconds.
func micro(d time.Duration) string { return fmt.Sprintf("%.0f", float64(d)/float64(time.Microsecond)) }

// used is the CPU time that this process has used, or with its children etcd and kube-apiserver. A
// busy machine changes it less than real time.
func used(t *testing.T, withChildren bool) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	cpu := time.Duration(r.Utime.Nano() + r.Stime.Nano())
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for _, pid := range strings.Fields(string(children)) {
			stat, _ := os.ReadFile("/proc/" + pid + "/stat")
			_, after, _ := strings.Cut(string(stat), ") ")
			if fields := strings.Fields(after); withChildren && len(fields) > 12 {
				user, _ := strconv.Atoi(fields[11])
				system, _ := strconv.Atoi(fields[12])
				cpu += time.Duration(user+system) * 10 * time.Millisecond // a tick
			}
		}
	}
	return cpu
}

// contender is something that answers a client.
type contender struct {
	name string
	c    client.Client
	ops  int  // of a round
	real bool // in processes of its own
}

// took is what a request took.
type took struct{ wall, cpu time.Duration }

func (t took) String() string { return micro(t.wall) + ", " + micro(t.cpu) }

func middle(of []took) took {
	var walls, cpus []time.Duration
	for _, k := range of {
		walls, cpus = append(walls, k.wall), append(cpus, k.cpu)
	}
	return took{median(walls), median(cpus)}
}

func contenders(t *testing.T) []contender {
	real, err := StartReal()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = real.Stop() })
	model, err := StartModel()
	if err != nil {
		t.Fatal(err)
	}
	return []contender{{"kube-apiserver", usualClient(t, real), 40, true}, {"fake client", fakeClient(), 200, false},
		{"model", usualClient(t, model), 200, false}}
}

// usualClient is a client as operators make it. It asks for built-in types in protobuf.
func usualClient(t *testing.T, arm Arm) client.Client {
	t.Helper()
	cfg := rest.CopyConfig(arm.Config())
	cfg.QPS = -1
	c, err := client.New(cfg, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fakeClient has interceptors, as tests that let a request fail have them.
func fakeClient() client.Client {
	return fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object,
			opts ...client.GetOption) error {
			return c.Get(ctx, k, o, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return c.Create(ctx, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return c.Update(ctx, o, opts...)
		},
	}).Build()
}

// listed is the number of objects in a list.
const listed = 100

// subject is what a verb is tried on. Its namespace has as many objects as a list shows.
type subject struct {
	client.Client
	kib, n  int
	one     *corev1.ConfigMap
	objects []*corev1.ConfigMap
}

// create creates an object.
func (s *subject) create(ctx context.Context) error {
	s.objects = append(s.objects, s.fresh())
	return s.Create(ctx, s.objects[len(s.objects)-1])
}

// remove deletes objects until n are left.
func (s *subject) remove(ctx context.Context, n int) error {
	for len(s.objects) > n {
		last := len(s.objects) - 1
		if err := s.Delete(ctx, s.objects[last]); err != nil {
			return err
		}
		s.objects = s.objects[:last]
	}
	return nil
}

func (s *subject) fresh() *corev1.ConfigMap {
	s.n++
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("beside-%d-%d", s.kib, s.n)},
		Data:       map[string]string{"payload": strings.Repeat("x", s.kib<<10), "n": "0"},
	}
}

// tried are the verbs, in the order of the table. share is how many of a round's requests are made.
var tried = []struct {
	verb  string
	share float64
	do    func(context.Context, *subject) error
}{
	{"get", 1, func(ctx context.Context, s *subject) error {
		return s.Get(ctx, client.ObjectKeyFromObject(s.one), &corev1.ConfigMap{})
	}},
	{fmt.Sprintf("list of %d", listed), 0.1, func(ctx context.Context, s *subject) error {
		list := &corev1.ConfigMapList{}
		err := s.List(ctx, list, client.InNamespace("default"))
		if err == nil && len(list.Items) != listed {
			err = fmt.Errorf("the list has %d objects, want %d", len(list.Items), listed)
		}
		return err
	}},
	{"create", 1, func(ctx context.Context, s *subject) error { return s.create(ctx) }},
	{"patch", 1, func(ctx context.Context, s *subject) error {
		s.n++
		return s.Patch(ctx, s.one.DeepCopy(),
			client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"data":{"n":"%d"}}`, s.n)))
	}},
	{"update", 1, func(ctx context.Context, s *subject) error {
		s.n++
		s.one.ResourceVersion = "" // whatever the last verb left there
		s.one.Data["n"] = fmt.Sprint(s.n)
		return s.Update(ctx, s.one)
	}},
}

// requests measures single requests, the contenders in turn.
func requests(t *testing.T, b *strings.Builder) {
	all := contenders(t)
	b.WriteString("\nA request through a controller-runtime client for a ConfigMap, in microseconds of real time and of" +
		" CPU time,\nthat of etcd and kube-apiserver included. The ratios are those of CPU time:\n\n" +
		"| verb | size | kube-apiserver | fake client | model | kube-apiserver to model | fake client to model |\n" +
		"| --- | --- | ---: | ---: | ---: | ---: | ---: |\n")
	for _, kib := range []int{1, 10, 100} {
		subjects := make([]*subject, len(all))
		for i, a := range all {
			s := &subject{Client: a.c, kib: kib}
			for range listed {
				if err := s.create(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			s.one, subjects[i] = s.objects[0], s
		}
		for _, v := range tried {
			rounded := make([][]took, len(all))
			for range rounds {
				for i, a := range all {
					ops := int(float64(a.ops) * v.share)
					before, began := used(t, a.real), time.Now()
					for range ops {
						if err := v.do(t.Context(), subjects[i]); err != nil {
							t.Fatalf("%s, %s: %v", a.name, v.verb, err)
						}
					}
					n := time.Duration(ops)
					rounded[i] = append(rounded[i], took{time.Since(began) / n, (used(t, a.real) - before) / n})
					if err := subjects[i].remove(t.Context(), listed); err != nil {
						t.Fatal(err)
					}
				}
			}
			real, fake, model := middle(rounded[0]), middle(rounded[1]), middle(rounded[2])
			fmt.Fprintf(b, "| %s | %d KiB | %s | %s | %s | %s | %s |\n", v.verb, kib, real, fake, model,
				ratio(real.cpu, model.cpu), ratio(fake.cpu, model.cpu))
		}
		for _, s := range subjects {
			if err := s.remove(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
}
