// This file holds the worlds in which the shipped properties are tried: for each a small operator
// with one flaw, and the same scene without it.

package property_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

type (
	request = ctrl.Request
	result  = ctrl.Result
)

// scene is a world in which a property is tried.
type scene struct {
	property string // its constructor
	flaw     string // in words
	play     func(w *sim.World, flawed bool)
}

var scenes = []scene{
	{"Settles", "writes the time every 20 s", settles},
	{"IdempotentAtRest", "counts its own beginnings on the object", idempotent},
	{"ApplyIsStable", "writes a field of the user's", lowercases},
	{"NoHotLoop", "is woken by its own writes", hotLoop},
	{"BackoffSettled", "is woken by what it writes about its failure", failsTwice},
	{"BackoffSettled", "says at times that all is well", resets},
	{"AttemptsBounded", "at times tries again at once", triesAgain(property.AttemptsBounded, "AttemptsBounded", false)},
	{"AttemptsSettle", "at times tries again at once", triesAgain(property.AttemptsSettle, "AttemptsSettle", false)},
	{"AttemptsSettle", "stops trying", triesAgain(property.AttemptsSettle, "AttemptsSettle", true)},
	{"NoFutileRequeue", "still asks for what it has got", waits},
	{"NoStarvation", "sleeps in its only worker", starves},
	{"NoPanic", "writes to a map that is not there",
		panics(func(cm *corev1.ConfigMap) { cm.Annotations["seen"] = "yes" })},
	{"NoPanic", "ends its goroutine", panics(func(*corev1.ConfigMap) { runtime.Goexit() })},
	{"CacheUntouched", "writes into what a list without copies returned", touches},
	{"ActionableStatus", "overwrites the cause with progress", forgetsTheCause},
	{"AtMostOnce", "sends again", sends},
	{"ExactlyOnce", "sends again", sendsOnce("again")},
	{"ExactlyOnce", "never sends", sendsOnce("never")},
	{"NoStuckFinalizer", "does not take its finalizer off", holds},
	{"NamespaceFinishes", "does not take its finalizer off", holdsNamespace},
	{"NoOrphans", "leaves the child of a parent that is gone", orphans},
	{"DeletionOrder", "takes the key away before the data", dismantles},
	{"BoundedRecords", "does not prune", records},
	{"CreatedEachPeriod", "leaves out the third", backsUp("third")},
	{"CreatedEachPeriod", "makes another after a restart", backsUp("again")},
	{"CreatedExactly", "makes one too many", backsUpTwice},
	{"DeletesWhatItRead", "deletes a name that stands for another object by now", deletesByName},
	{"CrashSafe", "creates a record under a new name and then says so", crashes},
	{"ObservedGeneration", "says once what it has observed", observesOnce},
	{"StatusNamesWhatExists", "still names what is gone", namesTheGone},
	{"NoLostUpdate", "updates what it read without its version", overwrites},
	{"NoLostUpdate", "retries what it read under the newest version", retriesStale},
	{"NoLostField", "writes back a whole object without its version", dropsLabels},
	{"NoDroppedField", "updates an object of which it knows a part", dropsFields},
}

// operator is a controller of the ConfigMaps in a role.
type operator struct {
	client.Client
	live client.Reader
	http *http.Client
	seen map[string]int // its memory
}

type pass func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error)

// start runs an operator whose reconciles call work; gone is called, when it is given, for objects
// that are not there.
func start(w *sim.World, o controller.Options, work pass, gone func(*operator, context.Context, request) error) {
	w.Start("operator", func(mgr ctrl.Manager) error {
		op := &operator{Client: mgr.GetClient(), live: mgr.GetAPIReader(), http: sim.HTTPClient(mgr),
			seen: map[string]int{}}
		meant := predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetLabels()["role"] == "work" })
		return ctrl.NewControllerManagedBy(mgr).Named("work").For(&corev1.ConfigMap{},
			builder.WithPredicates(meant)).WithOptions(o).
			Complete(reconciler(func(c context.Context, req request) (result, error) {
				var cm corev1.ConfigMap
				if err := op.Get(c, req.NamespacedName, &cm); apierrors.IsNotFound(err) && gone != nil {
					return result{}, gone(op, c, req)
				} else if err != nil {
					return result{}, client.IgnoreNotFound(err)
				}
				if cm.Data == nil {
					cm.Data = map[string]string{}
				}
				return work(op, c, &cm)
			}))
	})
}

// lives starts an operator, creates an object for it, and lets the world settle.
func lives(w *sim.World, reconcile pass) {
	start(w, controller.Options{}, reconcile, nil)
	settleWith(w, work("a"))
}

// settleWith applies objects and lets the world settle.
func settleWith(w *sim.World, objs ...client.Object) {
	w.Apply(objs...)
	w.Settle()
}

type reconciler func(context.Context, request) (result, error)

func (r reconciler) Reconcile(c context.Context, req request) (result, error) { return r(c, req) }

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name}
}

func work(name string, data ...string) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{ObjectMeta: named(name), Data: map[string]string{}}
	cm.Labels = map[string]string{"role": "work"}
	for i := 0; i+1 < len(data); i += 2 {
		cm.Data[data[i]] = data[i+1]
	}
	return cm
}

// set writes one field, as the object is known.
func (o *operator) set(c context.Context, cm *corev1.ConfigMap, key, value string) error {
	cm.Data[key] = value
	return o.Update(c, cm)
}

// again adds 1 to a number on the object.
func (o *operator) again(c context.Context, cm *corev1.ConfigMap, key string) error {
	n, _ := strconv.Atoi(cm.Data[key])
	return o.set(c, cm, key, strconv.Itoa(n+1))
}

// edit is what a user does with kubectl patch.
func edit(w *sim.World, key, value string) {
	p := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"data":{%q:%q}}`, key, value))
	if err := w.Client().Patch(w.Context(), work("a"), p); err != nil {
		panic(err)
	}
}

func settles(w *sim.World, flawed bool) {
	w.Always("Settles", property.Settles(30*time.Second))
	lives(w, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		slot := strconv.FormatInt(time.Now().Unix()/20, 10)
		if o.seen["writes"] >= 5 || cm.Data["at"] != "" && !flawed {
			return result{}, nil
		} else if cm.Data["at"] == slot {
			return result{RequeueAfter: 20 * time.Second}, nil
		}
		o.seen["writes"]++
		return result{RequeueAfter: 20 * time.Second}, o.set(c, cm, "at", slot)
	})
}

func idempotent(w *sim.World, flawed bool) {
	w.Always("IdempotentAtRest", property.IdempotentAtRest())
	lives(w, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		o.seen[cm.Name]++
		if cm.Data["begun"] == "" || flawed && o.seen[cm.Name] == 1 {
			return result{}, o.again(c, cm, "begun")
		}
		return result{}, nil
	})
	w.Stop("operator")
	w.Settle()
}

// lowercases writes what the user asks for in another form: into the same field, or into its own.
func lowercases(w *sim.World, flawed bool) {
	w.Without("apply is stable")
	w.Always("ApplyIsStable", property.ApplyIsStable())
	into := "done"
	if flawed {
		into = "wanted"
	}
	start(w, controller.Options{}, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		if want := strings.ToLower(cm.Data["wanted"]); cm.Data[into] != want {
			return result{}, o.set(c, cm, into, want)
		}
		return result{}, o.Update(c, cm) // as it is
	}, nil)
	w.Apply(work("a", "wanted", "High"))
	w.ApplyAgain()
	w.ApplyServerSide(work("a", "wanted", "High"))
	w.ApplyAgain()
}

func hotLoop(w *sim.World, flawed bool) {
	w.Without("no hot loop")
	w.Always("NoHotLoop", property.NoHotLoop(100, 10*time.Second))
	lives(w, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		if cm.Data["n"] == "" || flawed && len(cm.Data["n"]) < 300 {
			return result{}, o.set(c, cm, "n", cm.Data["n"]+"i")
		}
		return result{}, nil
	})
	for i := range 150 { // a user may be as quick as this
		edit(w, "edit", strconv.Itoa(i))
	}
	w.Settle()
}

// backOff is a fresh limiter for each incarnation: its memory is the process's.
func backOff() controller.Options {
	return controller.Options{RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[request](time.Second,
		1000*time.Second)}
}

// attempt always fails: the server refuses the object.
func (o *operator) attempt(c context.Context) error {
	return o.Create(c, &corev1.Secret{ObjectMeta: named("Not a name")})
}

func failsTwice(w *sim.World, flawed bool) {
	w.Always("BackoffSettled", property.BackoffSettled("work", 500*time.Millisecond, nil))
	start(w, backOff(), func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		err := o.attempt(c)
		o.seen[cm.Name]++
		if n := len(cm.Data["failed"]); n == 0 || flawed && n < 9 && o.seen[cm.Name]%2 == 1 {
			patch := []byte(`{"data":{"failed":"` + cm.Data["failed"] + `i"}}`)
			o.Patch(c, cm, client.RawPatch(types.MergePatchType, patch)) //nolint:errcheck // err says more
		}
		return result{}, err
	}, nil)
	settleWith(w, work("a"))
	w.Sleep(10 * time.Minute)
}

func resets(w *sim.World, flawed bool) {
	w.Always("BackoffSettled", property.BackoffSettled("work", 500*time.Millisecond, nil))
	start(w, backOff(), func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		if o.seen[cm.Name]++; flawed && o.seen[cm.Name] == 4 {
			return result{RequeueAfter: time.Second}, nil
		}
		return result{}, o.attempt(c)
	}, nil)
	settleWith(w, work("a"))
	w.Sleep(10 * time.Minute)
}

// triesAgain fails, and tries again every 10 s. The flawed operator stops after a minute, or waits
// only a second after each third attempt.
func triesAgain(of func(property.Attempts) property.Property, name string, stops bool) func(*sim.World, bool) {
	return func(w *sim.World, flawed bool) {
		var ended history.Time
		w.Always(name, of(property.Attempts{
			Of: func(e *history.Event) string {
				if e.Kind == history.Request && e.Verb == "create" && e.Ref.Kind == "Secret" {
					return "a Secret"
				}
				return ""
			},
			Period:  func([]property.Attempt) time.Duration { return 9 * time.Second },
			Longest: 15 * time.Second, Lag: time.Second, Ended: func() history.Time { return ended },
		}))
		start(w, controller.Options{}, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
			_ = o.attempt(c)
			o.seen[cm.Name]++
			switch n := o.seen[cm.Name]; {
			case flawed && stops && n > 6:
				return result{}, nil
			case flawed && !stops && n%3 == 0:
				return result{RequeueAfter: time.Second}, nil
			}
			return result{RequeueAfter: 10 * time.Second}, nil
		}, nil)
		w.Inject(fault.RacingRequeue())
		w.Apply(work("a"))
		w.Sleep(time.Minute)
		w.EndFaults()
		ended = w.History().Now()
		w.Sleep(2 * time.Minute)
		w.Apply(&corev1.ConfigMap{ObjectMeta: named("the-end")}) // a step, after which properties are judged
	}
}

func starves(w *sim.World, flawed bool) {
	w.Always("NoStarvation", property.NoStarvation(5*time.Second))
	start(w, controller.Options{}, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		if cm.Data["slow"] == "" || o.seen[cm.Name] > 0 {
			return result{}, nil
		}
		o.seen[cm.Name]++
		if flawed {
			time.Sleep(30 * time.Second)
			return result{}, nil
		}
		return result{RequeueAfter: 30 * time.Second}, nil
	}, nil)
	settleWith(w, work("a", "slow", "yes"), work("b"), work("c"))
}

func panics(how func(*corev1.ConfigMap)) func(*sim.World, bool) {
	return func(w *sim.World, flawed bool) {
		w.Without("no panic")
		w.Always("NoPanic", property.NoPanic())
		lives(w, func(o *operator, _ context.Context, cm *corev1.ConfigMap) (result, error) {
			if o.seen[cm.Name]++; flawed && o.seen[cm.Name] == 1 {
				how(cm)
			}
			return result{}, nil
		})
	}
}

func touches(w *sim.World, flawed bool) {
	w.Without("cache untouched")
	w.Always("CacheUntouched", property.CacheUntouched())
	lives(w, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		var all corev1.ConfigMapList
		if err := o.List(c, &all, client.InNamespace(cm.Namespace), client.UnsafeDisableDeepCopy); err != nil {
			return result{}, err
		}
		for i := range all.Items {
			mine := &all.Items[i]
			if !flawed {
				mine = mine.DeepCopy()
			}
			mine.Labels["seen"] = "yes"
		}
		return result{}, nil
	})
}

func forgetsTheCause(w *sim.World, flawed bool) {
	w.Eventually("ActionableStatus",
		property.ActionableStatus(history.Ref{Kind: "Pod", Name: "a"}, "RC-17", 0.95, time.Minute))
	start(w, controller.Options{}, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		var pod corev1.Pod
		if err := o.live.Get(c, client.ObjectKeyFromObject(cm), &pod); err != nil {
			return result{}, err
		}
		o.seen[cm.Name]++
		pod.Status.Message = "the image cannot be pulled: RC-17"
		if flawed && o.seen[cm.Name]%2 == 0 {
			pod.Status.Message = "trying"
		}
		if o.seen[cm.Name] > 10 {
			return result{}, nil
		}
		return result{RequeueAfter: time.Minute}, o.Status().Update(c, &pod)
	}, nil)
	w.Apply(&corev1.Pod{ObjectMeta: named("a"),
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}, work("a"))
	w.Settle()
}

// outside counts letters.
func outside(w *sim.World) {
	w.External("mail.example", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		history.AddEffect(r.Context(), history.Effect{Kind: "mail", Key: r.URL.Path[1:]})
	}))
}

func (o *operator) send(c context.Context, to string) error {
	r, err := http.NewRequestWithContext(c, http.MethodPost, "http://mail.example/"+to, nil)
	if err != nil {
		return err
	}
	reply, err := o.http.Do(r)
	if err != nil {
		return err
	}
	return reply.Body.Close()
}

// mailer sends a letter for each object, and says so on it first.
func mailer(w *sim.World, flaw string) {
	outside(w)
	lives(w, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		switch {
		case flaw == "never":
			return result{}, nil
		case cm.Data["sent"] != "" && (flaw == "" || o.seen[cm.Name] > 1):
			return result{}, nil
		case cm.Data["sent"] == "":
			if err := o.set(c, cm, "sent", "yes"); err != nil {
				return result{}, err
			}
		}
		o.seen[cm.Name]++
		return result{}, o.send(c, cm.Name)
	})
}

func sends(w *sim.World, flawed bool) {
	w.Always("AtMostOnce", property.AtMostOnce("mail"))
	mailer(w, map[bool]string{true: "again"}[flawed])
}

func sendsOnce(flaw string) func(*sim.World, bool) {
	return func(w *sim.World, flawed bool) {
		w.Eventually("ExactlyOnce", property.ExactlyOnce("mail", "a"))
		mailer(w, map[bool]string{true: flaw}[flawed])
	}
}

const finalizer = "wavetank.example/clean-up"

// keeper holds its objects with a finalizer until it has cleaned up.
func keeper(w *sim.World, flawed bool) {
	w.Without("no stuck finalizer")
	start(w, controller.Options{}, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		switch {
		case cm.DeletionTimestamp == nil && controllerutil.AddFinalizer(cm, finalizer),
			cm.DeletionTimestamp != nil && !flawed && controllerutil.RemoveFinalizer(cm, finalizer):
			return result{}, o.Update(c, cm)
		}
		return result{}, nil
	}, nil)
}

func holds(w *sim.World, flawed bool) {
	w.Always("NoStuckFinalizer", property.NoStuckFinalizer(30*time.Second))
	keeper(w, flawed)
	settleWith(w, work("a"))
	w.Remove(work("a"))
	w.Settle()
	w.Sleep(time.Minute)
	w.Apply(work("b")) // a later change, after which it is judged
	w.Settle()
	w.Sleep(time.Minute)
	w.Settle()
}

func holdsNamespace(w *sim.World, flawed bool) {
	w.Always("NamespaceFinishes", property.NamespaceFinishes(time.Minute))
	keeper(w, flawed)
	team := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}
	a := work("a")
	a.Namespace = "team"
	w.Apply(team, a)
	w.Settle()
	w.Remove(team)
	w.Settle()
	w.Sleep(2 * time.Minute)
	w.Settle()
}

func orphans(w *sim.World, flawed bool) {
	w.Without("no stuck finalizer")
	w.Always("NoOrphans", property.NoOrphans(30*time.Second))
	child := func(name string) *corev1.Secret { return &corev1.Secret{ObjectMeta: named(name + "-child")} }
	start(w, controller.Options{}, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		s := child(cm.Name)
		s.Finalizers = []string{finalizer}
		s.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: cm.Name, UID: cm.UID}}
		return result{}, client.IgnoreAlreadyExists(o.Create(c, s))
	}, func(o *operator, c context.Context, req request) error {
		s := child(req.Name)
		if err := o.live.Get(c, client.ObjectKeyFromObject(s), s); err != nil || flawed {
			return client.IgnoreNotFound(err)
		}
		s.Finalizers = nil
		if err := o.Update(c, s); err != nil {
			return err
		}
		return client.IgnoreNotFound(o.Delete(c, s))
	})
	settleWith(w, work("a"))
	w.Remove(work("a"))
	w.Settle()
	w.Sleep(time.Minute)
	w.Settle()
}

func dismantles(w *sim.World, flawed bool) {
	w.Always("DeletionOrder",
		property.DeletionOrder(history.Ref{Kind: "ConfigMap", Name: "a-data"}, history.Ref{Kind: "Secret"}))
	lives(w, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		parts := []client.Object{&corev1.ConfigMap{ObjectMeta: named("a-data")},
			&corev1.Secret{ObjectMeta: named("a-key")}}
		if cm.DeletionTimestamp == nil {
			if !controllerutil.AddFinalizer(cm, finalizer) {
				return result{}, nil
			}
			for _, p := range parts {
				if err := client.IgnoreAlreadyExists(o.Create(c, p)); err != nil {
					return result{}, err
				}
			}
			return result{}, o.Update(c, cm)
		}
		if flawed {
			parts[0], parts[1] = parts[1], parts[0]
		}
		for _, p := range parts {
			if err := client.IgnoreNotFound(o.Delete(c, p)); err != nil {
				return result{}, err
			}
		}
		controllerutil.RemoveFinalizer(cm, finalizer)
		return result{}, client.IgnoreNotFound(o.Update(c, cm))
	})
	w.Remove(work("a"))
	w.Settle()
}

func records(w *sim.World, flawed bool) {
	w.Always("BoundedRecords", property.BoundedRecords(history.Ref{Kind: "Secret"}, 3, nil))
	start(w, controller.Options{}, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		n, _ := strconv.Atoi(cm.Data["n"])
		if !flawed && n > 3 {
			old := &corev1.Secret{ObjectMeta: named(fmt.Sprintf("a-%d", n-3))}
			if err := client.IgnoreNotFound(o.Delete(c, old)); err != nil {
				return result{}, err
			}
		}
		s := &corev1.Secret{ObjectMeta: named(fmt.Sprintf("a-%d", n))}
		s.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: cm.Name, UID: cm.UID}}
		return result{}, client.IgnoreAlreadyExists(o.Create(c, s))
	}, nil)
	for n := range 6 {
		settleWith(w, work("a", "n", strconv.Itoa(n+1)))
	}
}

func crashes(w *sim.World, flawed bool) {
	w.Eventually("CrashSafe", property.CrashSafe(w.Undisturbed()))
	start(w, controller.Options{}, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		if cm.Data["recorded"] != "" {
			return result{}, nil
		}
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "record-"}}
		if !flawed {
			s.ObjectMeta = named("record-" + cm.Name)
		}
		if err := client.IgnoreAlreadyExists(o.Create(c, s)); err != nil {
			return result{}, err
		}
		return result{}, o.set(c, cm, "recorded", "yes")
	}, nil)
	w.Inject(fault.Crash("operator"))
	settleWith(w, work("a"))
}

func overwrites(w *sim.World, flawed bool) {
	w.Always("NoLostUpdate", property.NoLostUpdate())
	start(w, controller.Options{}, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		if cm.Data["done"] == cm.Data["wanted"] {
			return result{}, nil
		}
		if flawed {
			cm.ResourceVersion = ""
		}
		return result{}, o.set(c, cm, "done", cm.Data["wanted"])
	}, nil)
	w.Inject(fault.StaleCache(10 * time.Second))
	w.Apply(work("a", "wanted", "x"))
	for i := range 4 {
		edit(w, "wanted", strconv.Itoa(i))
	}
	w.Settle()
	edit(w, "done", "nothing") // which the operator may overwrite when it has seen it
	w.Settle()
}
