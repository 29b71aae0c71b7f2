// Wrong calls of package sim are reported with what is wrong and what to write instead. They fail a
// test, so each case runs in a child process, whose output is judged.

package sim_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// misuse is a wrong call of package sim.
type misuse struct {
	name string
	test func(*testing.T)
	says []string // what the child must print
}

// in is a misuse inside a scenario.
func in(name string, scenario func(*sim.World), says ...string) misuse {
	return misuse{name, func(t *testing.T) { sim.Check(t, scenario, sim.Stories(t.TempDir())) }, says}
}

func idle(ctrl.Manager) error { return nil }

func always(w *sim.World, sentence string) {
	w.Always(sentence, func(*history.History) error { return nil })
}

func startRestless(w *sim.World) {
	w.Start("restless", simtest.Restless)
	w.Apply(simtest.Source("a"))
	w.Settle()
}

// startWith starts a reconciler that does something with the world.
func startWith(w *sim.World, do func()) {
	w.Start("op", simtest.Reconciles(
		func(context.Context, client.Client, *corev1.ConfigMap) (reconcile.Result, error) {
			do()
			return reconcile.Result{}, nil
		}))
	w.Apply(simtest.ConfigMap("a"))
	w.Settle()
}

// baskets is a file with the definition of a kind, whose parts are given.
func baskets(version, scope, spec string) []byte {
	return []byte("apiVersion: apiextensions.k8s.io/" + version +
		"\nkind: CustomResourceDefinition\nmetadata: {name: baskets.shop.example}\n" +
		"spec:\n  group: shop.example\n  " + scope +
		"\n  names: {kind: Basket, listKind: BasketList, plural: baskets, singular: basket}\n" +
		"  versions:\n  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, " +
		"properties: {spec: " + spec + "}}}}\n")
}

// basketsFile writes them to a file.
func basketsFile(t *testing.T, scope, spec string) string {
	file := filepath.Join(t.TempDir(), "baskets.yaml")
	if err := os.WriteFile(file, baskets("v1", scope, spec), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// calling sets a program up that sends one request to the outside.
func calling(url string) func(ctrl.Manager) error {
	return func(mgr ctrl.Manager) error {
		return mgr.Add(manager.RunnableFunc(func(context.Context) error {
			_, err := sim.HTTPClient(mgr).Get(url) //nolint:noctx // it ends with the process
			return err
		}))
	}
}

// processes are misuses about programs.
var processes = []misuse{
	in("two processes of one name", func(w *sim.World) {
		w.Start("op", idle)
		w.Start("op", idle)
	}, `two processes are called "op"`),
	in("a process without a name", func(w *sim.World) { w.Start("", idle) }, `a process cannot be called ""`),
	in("a process called user", func(w *sim.World) { w.Start("user", idle) }, `a process cannot be called "user"`),
	in("no setup function", func(w *sim.World) { w.Start("op", nil) }, `w.Start("op") was given no setup function`),
	in("an unknown name of the default properties", func(w *sim.World) { w.Without("no panic", "no hot loops") },
		`w.Without("no hot loops"): there is no default property of that name, `+
			`only ["settles" "no panic" "cache untouched" "no hot loop" "no stuck finalizer" "no missing permission" `+
			`"apply is stable"]`),
	in("an apply of nothing once more", func(w *sim.World) {
		w.Apply(simtest.ConfigMap("a"))
		w.Remove(simtest.ConfigMap("a"))
		w.ApplyAgain()
	}, "w.ApplyAgain: nothing was applied before"),
	in("an eventually that is never judged", func(w *sim.World) {
		w.Settle()
		w.Eventually("it is there", func(*history.History) error { return nil })
		w.Sleep(time.Hour)
	}, `w.Eventually("it is there") was never judged, because the scenario did not settle after it: call w.Settle`),
	in("no program", func(w *sim.World) { w.Run("op", nil) }, `w.Run("op") was given no function`),
	in("a program with options of a manager", func(w *sim.World) {
		w.Run("op", func(context.Context, *rest.Config) error { return nil },
			sim.Options(ctrl.Options{LeaderElection: true}))
	}, `w.Run("op") makes no manager, so of sim.Options it takes the Scheme alone`, "give sim.NewManager the rest"),
	in("a program whose options vary", func(w *sim.World) {
		w.Run("op", func(context.Context, *rest.Config) error { return nil }, sim.Vary())
	}, `w.Run("op") makes no manager`, "no sim.Vary"),
	in("a setup function that errors", func(w *sim.World) {
		w.Start("op", func(ctrl.Manager) error { return errors.New("no such flavour") })
		w.Settle()
	}, `the setup function of process "op" failed: no such flavour`),
	in("a go statement in the scenario", func(w *sim.World) {
		done := make(chan bool)
		go func() { w.Apply(simtest.ConfigMap("a")); close(done) }() // it ends in w.Apply
		<-done
	}, "a World was used on another goroutine than its scenario's", "after a go statement",
		"call it on the scenario's own goroutine, without go"),
	in("a setup function that panics", func(w *sim.World) {
		w.Start("op", func(ctrl.Manager) error { panic("no such flavour") })
		w.Settle()
	}, `process "op" panicked outside a reconcile: no such flavour`, "misuse_test.go:"),
	in("a setup function that never returns", func(w *sim.World) {
		w.Start("op", func(mgr ctrl.Manager) error { return mgr.Start(context.Background()) })
		w.Settle()
	}, "the world did not settle within",
		"the setup function of op/1, which has not returned: it registers controllers, "+
			"and the manager is started for it"),
	in("a kind that no scheme knows", func(w *sim.World) {
		w.Start("op", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&shelf{}).Complete(reconcile.Func(simtest.Nothing))
		})
		w.Settle()
	}, "the setup function of process \"op\" failed: no kind is registered",
		"comes with sim.Options(ctrl.Options{Scheme: scheme})"),
	in("an object that no scheme knows", func(w *sim.World) { w.Apply(&shelf{*simtest.ConfigMap("a")}) },
		"w.Apply of default/a: no kind is registered", "comes with sim.Options(ctrl.Options{Scheme: scheme})"),
	in("a controller of a kind that is not installed", func(w *sim.World) {
		w.Start("op", func(mgr ctrl.Manager) error {
			u := &unstructured.Unstructured{}
			u.SetAPIVersion("shop.example/v1")
			u.SetKind("Basket")
			return ctrl.NewControllerManagedBy(mgr).Named("op").For(u).Complete(reconcile.Func(simtest.Nothing))
		})
		w.Settle()
	}, "the world did not settle within",
		"the cluster does not serve Basket.shop.example, which was asked for: w.Install its definition before w.Start"),
	in("a setup function that fails under faults", func(w *sim.World) {
		w.Start("op", func(ctrl.Manager) error { return errors.New("no such flavour") })
		w.Inject(fault.Crash("op"))
		w.Settle()
	}, "no such flavour"),
	in("an option that cannot be", func(w *sim.World) {
		w.Start("op", idle, sim.Options(ctrl.Options{LeaderElectionConfig: &rest.Config{}}))
		w.Settle()
	}, `process "op"`, "ctrl.Options.LeaderElectionConfig cannot be set in a simulated process"),
	in("an informer of one's own", func(w *sim.World) {
		o := ctrl.Options{}
		o.Cache.NewInformer = cache.NewSharedIndexInformer
		w.Start("op", idle, sim.Options(o))
		w.Settle()
	}, "ctrl.Options.Cache.NewInformer cannot be set in a simulated process"),
	in("a manager for another cluster", func(w *sim.World) {
		w.Run("op", func(context.Context, *rest.Config) error {
			_, err := sim.NewManager(&rest.Config{Host: "https://prod.example"}, ctrl.Options{})
			return err
		})
		w.Settle()
	}, "the world did not settle within",
		"restart of op, which exited: this rest.Config is not the one that the simulated process was given"),
	in("a manager for another cluster of the world", func(w *sim.World) {
		w.Cluster("prod.example")
		w.Run("op", func(_ context.Context, cfg *rest.Config) error {
			away := rest.CopyConfig(cfg)
			away.Host = "http://prod.example"
			_, err := sim.NewManager(away, ctrl.Options{})
			return err
		})
		w.Settle()
	}, "this rest.Config is of http://prod.example, and a manager can only be had for the cluster",
		"reach the others by cluster.New"),
	in("stopping an unknown process", func(w *sim.World) { w.Stop("op") }, `w.Stop("op"): there is no such process`),
	in("upgrading an unknown process", func(w *sim.World) { w.Upgrade("op", idle) },
		`w.Upgrade("op"): there is no such process`),
	in("upgrading a program", func(w *sim.World) {
		w.Run("op", func(ctx context.Context, _ *rest.Config) error { <-ctx.Done(); return nil })
		w.Upgrade("op", idle)
	}, `w.Upgrade("op"): the process was started by w.Run`),
	in("upgrading to nothing", func(w *sim.World) {
		w.Start("op", idle)
		w.Upgrade("op", nil)
	}, `w.Upgrade("op") was given no setup function`),
	in("an upgrade that cannot be set up", func(w *sim.World) {
		w.Start("op", idle)
		w.Upgrade("op", func(ctrl.Manager) error { return errors.New("no such flavour") })
		w.Settle()
	}, `the setup function of process "op" failed: no such flavour`),
	in("a fault for an unknown process", func(w *sim.World) { w.Inject(fault.Crash("op")) },
		`names process "op", which has not been started`),
}

// scenes are misuses of the rest of the world.
var scenes = []misuse{
	in("a kind that is not installed", func(w *sim.World) {
		u := &unstructured.Unstructured{}
		u.SetAPIVersion("shop.example/v1")
		u.SetKind("Basket")
		u.SetName("a")
		w.Apply(u)
	}, "w.Apply of Basket", `no matches for kind "Basket" in version "shop.example/v1"`),
	in("an object of no namespace", func(w *sim.World) {
		cm := simtest.ConfigMap("a")
		cm.Namespace = "nowhere"
		w.Apply(cm)
	}, "w.Apply of ConfigMap nowhere/a", `namespaces "nowhere" not found`),
	in("a webhook that is not served", func(w *sim.World) {
		w.Apply(hooked(admissionregv1.Fail)...)
		w.Apply(simtest.ConfigMap("a"))
	}, "w.Apply of ConfigMap default/a: it was tried for 10m0s", "stamp.example.org", "connection refused"),
	in("an object without a name", func(w *sim.World) {
		cm := simtest.ConfigMap("")
		cm.GenerateName = "a-"
		w.Apply(cm)
	}, "w.Apply of ConfigMap default/: it has no name", "w.Client().Create takes a generateName"),
	in("an object that is always in conflict", func(w *sim.World) {
		url := "https://policy.example/validate"
		config := hooked(admissionregv1.Fail)[1].(*admissionregv1.ValidatingWebhookConfiguration)
		config.Webhooks[0].ClientConfig = admissionregv1.WebhookClientConfig{URL: &url}
		config.Webhooks[0].Rules[0].Operations = []admissionregv1.OperationType{"UPDATE"}
		w.External("policy.example", &webhook.Admission{Handler: admission.HandlerFunc(
			func(context.Context, admission.Request) admission.Response {
				return admission.Errored(http.StatusConflict, errors.New("taken"))
			})})
		w.Apply(config, simtest.ConfigMap("a"))
		w.Apply(simtest.ConfigMap("a", "k", "v"))
	}, "w.Apply of ConfigMap default/a: gave up after 20 conflicts: another writer",
		"w.Settle lets the others finish first", "taken"),
	in("a handler of the outside that applies", func(w *sim.World) {
		w.External("git.example",
			http.HandlerFunc(func(http.ResponseWriter, *http.Request) { w.Apply(simtest.ConfigMap("b")) }))
		w.Start("op", calling("http://git.example/"))
		w.Settle()
	}, "w.Apply, w.Remove or w.Client() was called in the middle of a step, by a handler given to w.External",
		"call it in the scenario"),
	in("a handler of the outside that settles", func(w *sim.World) {
		w.External("git.example", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { w.Settle() }))
		w.Start("op", calling("http://git.example/"))
		w.Settle()
	}, "w.Settle was called in the middle of a step"),
	in("a built-in controller that sleeps", func(w *sim.World) {
		w.Apply(hooked(admissionregv1.Ignore)...)
		w.Builtin(&stepping{func(actor.Cluster) { w.Sleep(time.Second) }})
		w.Settle()
	}, "w.Sleep was called in the middle of a step"),
	in("a built-in controller that starts", func(w *sim.World) {
		w.Builtin(&stepping{func(actor.Cluster) { w.Start("op", idle) }})
		w.Settle()
	}, "w.Start or w.Run was called in the middle of a step"),
	in("definitions that are not there", func(w *sim.World) { w.Install("no/such/dir") }, `w.Install("no/such/dir")`,
		"no such file or directory"),
	in("definitions in the directory below", func(w *sim.World) { w.Install("testdata") },
		"no CustomResourceDefinition found there (in *.yaml", "directories below are not looked into"),
	{"a definition without a scope", func(t *testing.T) {
		file := basketsFile(t, "scoop: Namespaced", "{type: object}")
		sim.Check(t, func(w *sim.World) { w.Install(file) })
	},
		[]string{"spec.scope: Required value"}},
	in("definitions of another kind", func(w *sim.World) { w.Install(42) },
		"w.Install was given a int; give it a directory, a file, or"),
	in("one host twice", func(w *sim.World) {
		w.External("git.example", nil)
		w.External("git.example", nil)
	}, "w.External", "git.example"),
	in("a host that was not declared", func(w *sim.World) {
		startWith(w, func() {}) // what a program does about an error must not matter
		w.Start("poster", func(mgr ctrl.Manager) error {
			return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
				for ctx.Err() == nil {
					//nolint:noctx // it ends with the process
					resp, err := sim.HTTPClient(mgr).Get("https://git.example:8443/repos?token=secret")
					if err == nil {
						resp.Body.Close()
					}
					time.Sleep(time.Hour)
				}
				return nil
			}))
		})
		w.Settle()
	}, `, and the world has no host "git.example:8443"`,
		"poster sent GET https://git.example:8443/repos at sim/misuse_test.go:",
		`w.External("git.example:8443", handler)`,
		`w.External("git.example:8443", nil) says that there is no such host`),
	in("a property twice", func(w *sim.World) {
		always(w, "all is well")
		always(w, "all is well")
	}, `the property "all is well" is declared twice`),
	in("a property without a function", func(w *sim.World) {
		w.Eventually("all is well", nil)
	}, `the property "all is well" was given no function`),
	in("negative lag", func(w *sim.World) { w.Inject(fault.StaleCache(-time.Second)) },
		"fault StaleCache(-1s) has a negative duration"),
	in("negative sleep", func(w *sim.World) { w.Sleep(-time.Second) }, "w.Sleep(-1s): time does not go back"),
	in("a generator that panics", func(w *sim.World) {
		sim.Draw(w, "n", rapid.Custom(func(*rapid.T) int { panic("oh no") }))
	}, `the generator of sim.Draw("n") panicked: oh no`, "misuse_test.go:"),
	in("a property that settles", func(w *sim.World) {
		w.Eventually("all is well", func(*history.History) error {
			w.Settle()
			return nil
		})
		w.Settle()
	}, "a property may only read"),
	in("a property that writes", func(w *sim.World) {
		w.Eventually("all is well",
			func(*history.History) error { return w.Client().Create(w.Context(), simtest.ConfigMap("a")) })
		w.Settle()
	}, "a property may only read"),
	in("a reconciler that applies", func(w *sim.World) {
		startWith(w, func() { w.Apply(simtest.ConfigMap("b")) })
	}, "a World was used on another goroutine than its scenario's", "controllers use mgr.GetClient()"),
	in("a reconciler with the user's client", func(w *sim.World) {
		startWith(w, func() { _ = w.Client().Create(w.Context(), simtest.ConfigMap("b")) })
	}, "a World was used on another goroutine than its scenario's"),
	in("a scenario that ends the test", func(w *sim.World) { (&testing.T{}).FailNow() },
		"the scenario's goroutine was ended from inside"),
	{"a world that never settles", func(t *testing.T) {
		sim.Check(t, startRestless, sim.Shrink(0), sim.Stories(t.TempDir()))
	}, []string{"the world did not settle within", "pending are", "RequeueAfter of restless default/a, due",
		"the last write was update ConfigMap default/a by restless"}},
	{"a scenario of too many steps", func(t *testing.T) {
		sim.Check(t, func(w *sim.World) {
			for i := range 60 {
				w.Apply(simtest.ConfigMap(fmt.Sprint("a", i)))
			}
		}, sim.MaxSteps(50), sim.Shrink(0), sim.Stories(t.TempDir()))
	}, []string{"the run has taken 50 steps and is still in", "allow more by sim.MaxSteps or -sim.max-steps"}},
	in("a fault that is narrowed twice", func(w *sim.World) {
		w.Start("a", idle)
		w.Inject(fault.LostReply(fault.In("a"), fault.In("a")))
	}, "fault LostReply in a is narrowed by fault.In twice; declare a fault for each"),
	{"a world that takes too many steps", func(t *testing.T) {
		sim.Check(t, startRestless, sim.MaxSteps(50), sim.Shrink(0), sim.Stories(t.TempDir()))
	}, []string{"the world did not settle after 50 steps (-sim.max-steps)", "pending are"}},
	{"a test failed by a reconciler", func(t *testing.T) {
		sim.Check(t, func(w *sim.World) { startWith(w, func() { t.Error("not this way") }) }, sim.Stories(t.TempDir()))
	}, []string{"the test was failed from inside the run, by t.Error or t.Fail; state what must hold with w.Always",
		"reconciles op default/a", "story: "}},
	{"a test ended by a reconciler", func(t *testing.T) {
		sim.Check(t, func(w *sim.World) { startWith(w, func() { t.Fatal("not this way") }) }, sim.Stories(t.TempDir()))
	}, []string{"the test was failed from inside the run", "reconciles op default/a", "story: "}},
	{"a test failed by its scenario", func(t *testing.T) {
		sim.Check(t, func(w *sim.World) {
			w.Apply(simtest.ConfigMap("a"))
			t.Error("not this way")
		}, sim.Stories(t.TempDir()))
	}, []string{"failed at step 2\n"}},
	{"a test ended by its scenario", func(t *testing.T) {
		sim.Check(t, func(w *sim.World) {
			w.Apply(simtest.ConfigMap("a"))
			t.Fatal("not this way")
		}, sim.Stories(t.TempDir()))
	}, []string{"failed at step 2\n", "the scenario's goroutine was ended from inside"}},
	{"a scenario that panics", func(t *testing.T) {
		sim.Check(t, func(w *sim.World) {
			w.Apply(simtest.ConfigMap("a"))
			panic("not this way")
		}, sim.Stories(t.TempDir()))
	}, []string{"panic at step 2\n"}},
	{"a scenario that skips", func(t *testing.T) { sim.Check(t, func(*sim.World) { t.Skip("not today") }) },
		[]string{"the scenario called t.Skip, which ends its run and not the test; call t.Skip before sim.Check"}},
	{"no scenario", func(t *testing.T) { sim.Check(t, nil) }, []string{"sim: Check and Explore need a scenario"}},
	{"a scenario in a scenario", func(t *testing.T) {
		sim.Check(t, func(*sim.World) { sim.Check(t, func(*sim.World) {}) })
	}, []string{"do not call Check inside a scenario"}},
	{"a world that is over", func(t *testing.T) {
		var last *sim.World
		sim.Check(t, func(w *sim.World) { last = w }, sim.Runs(1))
		defer func() { t.Error(recover()) }()
		last.Settle()
	}, []string{"sim: a World was used when its run was over"}},
}

// parallel are misuses of package testing, which announces them by other lines.
var parallel = []misuse{
	{"parallel", func(t *testing.T) {
		t.Parallel()
		sim.Check(t, func(*sim.World) {})
	}, []string{"remove t.Parallel and use more processes instead"}},
	{"parallel parent", func(t *testing.T) {
		t.Parallel()
		t.Run("child", func(t *testing.T) { sim.Check(t, func(*sim.World) {}) })
	}, []string{"or one of its parents called t.Parallel"}},
}

const misuseGuard = "WAVETANK_TEST_MISUSE"

// misused runs this test binary's TestMisuse as a child, with one case.
func misused(t *testing.T, name string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"-test.run=^TestMisuse$/^" + strings.ReplaceAll(name, " ", "_") +
		"$", "-test.v", "-test.timeout=10m"}, args...)...)
	cmd.Env = append(append(os.Environ(), misuseGuard+"=1"), env...)
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("the test passes:\n%s", out)
	}
	return string(out)
}

func judge(t *testing.T, out string, says []string) {
	t.Helper()
	if strings.Count(out, ": not this way\n") > 1 {
		t.Errorf("a line is said twice:\n%s", out)
	}
	simtest.Contains(t, out, says...)
	if strings.Contains(out, "[recovered]") || strings.Contains(out, "\ngoroutine ") {
		t.Errorf("the process crashed:\n%s", out)
	}
}

func TestMisuse(t *testing.T) {
	for _, m := range slices.Concat(processes, scenes, parallel, replacements, hosts) {
		t.Run(m.name, func(t *testing.T) {
			if os.Getenv(misuseGuard) != "" {
				m.test(t)
				return
			}
			judge(t, misused(t, m.name, nil), m.says)
		})
	}
	if os.Getenv(misuseGuard) != "" {
		t.Run("nothing", func(t *testing.T) { sim.Check(t, func(*sim.World) {}) })
		t.Run("kept stories",
			func(t *testing.T) { sim.Check(t, func(*sim.World) {}, sim.Stories(os.Getenv("WAVETANK_TEST_KEPT"))) })
	}
}

// A value of a flag that cannot be is reported, in an environment variable, too.
func TestBadFlagsAreMisuse(t *testing.T) {
	judge(t, misused(t, "nothing", []string{"SIM_RUNS=many"}),
		[]string{`environment variable SIM_RUNS="many" cannot be read as int; write it as you would write -sim.runs`})
	judge(t, misused(t, "nothing", []string{"SIM_MAX_STEPS=-5"}), []string{"-sim.max-steps=-5 must be positive"})
	for _, flag := range []string{"-sim.seed=5", "-sim.strategy=rapid"} {
		name, _, _ := strings.Cut(flag, "=")
		judge(t, misused(t, "nothing", nil, "-sim.replay=a.txtar", flag),
			[]string{"-sim.replay plays the choices of a story, so leave out " + name})
	}
	below := os.Args[0] + "/below" // a directory that cannot be made
	judge(t, misused(t, "nothing", nil, "-sim.report="+below),
		[]string{"-sim.report=" + below + ": nothing can be written there (mkdir "})
}

// Stories that cannot be replayed.
func TestBadStoriesAreMisuse(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, content, says string }{
		{"absent", "", "there is no such file; the path is relative to the directory of the test's package"},
		{"garbage", "hello\n", `not a wavetank story: the first line must read "wavetank story, format 2"`},
		{"foreign", "wavetank story, format 2\ntest: TestOther\npackage: example.com/p\nreplay: go test " +
			"example.com/p -run '^TestOther$' -sim.replay=x.txtar\n-- choices --\n1 next #4\n",
			"go test example.com/p -run '^TestOther$' -sim.replay=" + dir},
		{"renamed", "wavetank story, format 2\ntest: TestOther/sub\npackage: " +
			"github.com/wavetank/wavetank/sim\nreplay: go test github.com/wavetank/wavetank/sim -run '^TestOther$' " +
			"-sim.replay=x.txtar\n-- choices --\n1 next #4\n",
			`is a story of TestOther/sub, ` +
				`not of TestMisuse/nothing; no TestOther is written here any more; if this test is its successor, ` +
				`write "test: TestMisuse/nothing" in the file, or move it to testdata/sim/TestMisuse/nothing`},
		{"neighbour", "wavetank story, " +
			"format 2\ntest: TestBadStoriesAreMisuse\npackage: github.com/wavetank/wavetank/sim\nreplay: go test " +
			"github.com/wavetank/wavetank/sim -run '^TestBadStoriesAreMisuse$' -sim.replay=x.txtar -sim.max-steps=9\n" +
			"-- choices " +
			"--\n1 next #4\n",
			"go test github.com/wavetank/wavetank/sim -run '^TestBadStoriesAreMisuse$' -sim.replay=" +
				filepath.ToSlash(filepath.Join(dir, "neighbour.txtar")) + " -sim.max-steps=9\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(dir, c.name+".txtar")
			if c.content != "" {
				if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			judge(t, misused(t, "nothing", nil, "-sim.replay="+path),
				[]string{c.says, "-sim.replay", c.name + ".txtar"})
		})
	}
	t.Run("empty directory", func(t *testing.T) {
		judge(t, misused(t, "nothing", nil, "-sim.replay="+t.TempDir()),
			[]string{"the directory holds no story (*.txtar)"})
	})
	t.Run("kept", func(t *testing.T) {
		kept := t.TempDir()
		if err := os.WriteFile(filepath.Join(kept, "bad.txtar"), []byte("hello\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("WAVETANK_TEST_KEPT", kept)
		judge(t, misused(t, "kept stories", nil),
			[]string{"a kept story cannot be read", "bad.txtar", "mend or remove the file"})
	})
}
