// This file tests that the properties that no variant breaks can fail.

package reposync

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
)

// diary is a history that is made by hand, a second for each event.
type diary struct {
	history.History
	stored map[history.Ref]object
}

func (d *diary) add(e history.Event) {
	e.At = d.Now() + time.Second
	d.Add(e)
}

// put has a process write an object; it is deleted if that is marked and nothing keeps it.
func (d *diary) put(process string, ref history.Ref, o object) {
	kind := "MODIFIED"
	if _, there := d.stored[ref]; !there {
		kind = "ADDED"
	}
	if d.stored == nil {
		d.stored = map[history.Ref]object{}
	}
	d.stored[ref] = o
	if o.deleting() && len(o.Metadata.Finalizers) == 0 {
		kind = "DELETED"
		delete(d.stored, ref)
	}
	o.Metadata.Namespace, o.Metadata.Name = ref.Namespace, ref.Name
	if o.Metadata.UID == "" {
		o.Metadata.UID = types.UID(ref.String())
	}
	raw, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	d.add(history.Event{Kind: history.Request, Process: process, Verb: "update", Ref: ref, Code: 200,
		Changes: []history.Change{{Type: kind, Ref: ref, UID: string(o.Metadata.UID), At: d.Now() + time.Second,
			Object: raw}}})
}

// change has a process change an object that is there.
func (d *diary) change(process string, ref history.Ref, change func(*object)) {
	o := d.stored[ref]
	o.Metadata = *o.Metadata.DeepCopy()
	change(&o)
	d.put(process, ref, o)
}

// remove has a process delete an object.
func (d *diary) remove(process string, ref history.Ref) {
	d.change(process, ref, func(o *object) { o.Metadata.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} })
}

// refuse has a request of a process refused during one of its passes.
func (d *diary) refuse(process, verb string, ref history.Ref, code int, because string) {
	d.add(history.Event{Kind: history.Request, Process: process, Incarnation: 1, Reconcile: pass, Verb: verb, Ref: ref,
		Code: code, Received: []byte(because)})
}

// rejected has requests of a process refused n times.
func rejected(n int, process, verb string, ref history.Ref, code int, because string) func(*diary) {
	return func(d *diary) {
		for range n {
			d.refuse(process, verb, ref, code, because)
		}
	}
}

var pass = history.Reconcile{Key: history.Key{Controller: "manager", Namespace: "shop", Name: "repo-sync"}, N: 1}

// begin has a process begin that pass.
func (d *diary) begin(process string) {
	d.add(history.Event{Kind: history.Dequeue, Process: process, Incarnation: 1, Reconcile: pass})
}

// backOff has a timer begin a pass of the manager, in which a creation is refused.
func (d *diary) backOff(refused history.Ref) {
	d.add(history.Event{Kind: history.Dequeue, Process: Manager, Incarnation: 1, Reconcile: pass,
		Cause: history.Cause{Kind: history.CauseBackOff}})
	d.refuse(Manager, "create", refused, 403, "NamespaceTerminating")
}

// wait has nothing happen for a while.
func (d *diary) wait(long time.Duration) {
	d.Add(history.Event{Kind: history.Settled, At: d.Now() + long})
}

// synced is the diary of a RepoSync of which everything is there.
func syncedDiary() *diary {
	d := &diary{}
	d.put("user", namespaceRef(shop.Namespace), object{})
	d.put("user", syncRef(shop), object{Metadata: metav1.ObjectMeta{
		UID: "1", Finalizers: []string{v1beta1.ReconcilerFinalizer, v1beta1.ReconcilerManagerFinalizer},
		Annotations: map[string]string{v1beta1.DeletionPropagationPolicy: v1beta1.Foreground},
	}})
	d.put(Manager, bindingRef, object{Subjects: []rbacv1.Subject{{Kind: "ServiceAccount",
		Namespace: reposync.Namespace, Name: reposync.ReconcilerName(shop)}}})
	for _, ref := range managed(shop) {
		d.put(reposync.ReconcilerName(shop), ref, object{})
	}
	return d
}

func syncRef(sync types.NamespacedName) history.Ref {
	return history.Ref{Group: "configsync.gke.io", Kind: "RepoSync", Namespace: sync.Namespace, Name: sync.Name}
}

var bindingRef = history.Ref{Group: rbacv1.GroupName, Kind: "RoleBinding", Namespace: shop.Namespace,
	Name: reposync.BindingName}

// without takes a finalizer off.
func (d *diary) without(process, finalizer string) {
	d.change(process, syncRef(shop), func(o *object) {
		o.Metadata.Finalizers = slices.DeleteFunc(o.Metadata.Finalizers, func(f string) bool { return f == finalizer })
	})
}

// Each property that no variant breaks holds of one course of events and fails in another that
// differs from it by what it forbids.
func TestPropertiesThatNoVariantBreaksCanFail(t *testing.T) {
	reconciler := reposync.ReconcilerName(shop)
	settings, database := managed(shop)[0], managed(shop)[1]
	inTurn := worlds.InTurn[*diary]
	deleted := func(d *diary) { d.remove("user", syncRef(shop)) }
	off := func(d *diary) { d.without(reconciler, v1beta1.ReconcilerFinalizer) }
	begins := func(d *diary) { d.begin(Manager) }
	creates := rejected(1, Manager, "create", bindingRef, 403, "NamespaceTerminating")
	orphan := func(d *diary) {
		d.change("user", syncRef(shop),
			func(o *object) { o.Metadata.Annotations[v1beta1.DeletionPropagationPolicy] = v1beta1.Orphan })
	}
	for name, c := range map[string]struct {
		property   string
		good, bad  func(*diary)
		wanted     bool // that the namespace goes
		ended      bool // faults have
		complaints string
	}{
		"our reconciler deletes what is depended on": {
			property:   weakOrder,
			good:       func(d *diary) { d.remove("namespace-controller", database) },
			bad:        func(d *diary) { d.remove(reconciler, database) },
			complaints: reconciler + " deleted " + database.String() + " while " + settings.String(),
		},
		"the operator deletes what is to stay": {
			property:   spared,
			good:       func(d *diary) { d.remove(reconciler, settings); orphan(d); d.remove("user", database) },
			bad:        func(d *diary) { orphan(d); d.remove(Manager, database) },
			complaints: Manager + " deleted " + database.String(),
		},
		"the finalizer comes off twice": {
			property: onceOff,
			good:     inTurn(deleted, off),
			bad: inTurn(deleted, off, func(d *diary) {
				d.change(Manager, syncRef(shop), func(o *object) {
					o.Metadata.Finalizers = append(o.Metadata.Finalizers, v1beta1.ReconcilerFinalizer)
				})
			}, off),
			complaints: "was taken off RepoSync shop/repo-sync 2 times",
		},
		"somebody tries to put it back": {
			property:   onceOff,
			good:       rejected(1, reconciler, "update", syncRef(shop), 409, "the object has been modified"),
			bad:        rejected(1, reconciler, "update", syncRef(shop), 422, "no new finalizers can be added"),
			complaints: "in a way that was refused: no new finalizers",
		},
		"a writer is too late three times": {
			property:   converges,
			good:       inTurn(deleted, begins, rejected(tries-1, Manager, "update", syncRef(shop), 409, "modified")),
			bad:        inTurn(deleted, begins, rejected(tries, Manager, "update", syncRef(shop), 409, "modified")),
			complaints: "came too late for RepoSync shop/repo-sync 3 times in one go",
		},
		"the test of a patch fails three times": {
			property: converges,
			good:     inTurn(deleted, begins, rejected(1, Manager, "patch", syncRef(shop), 422, "the server rejected")),
			bad: inTurn(deleted, begins,
				rejected(tries, Manager, "patch", syncRef(shop), 422, "the server rejected")),
			complaints: "came too late for RepoSync shop/repo-sync 3 times in one go",
		},
		"who is refused gives up": {
			property: settles, ended: true,
			good:       func(d *diary) { d.backOff(bindingRef); d.wait(longestBackOff); d.backOff(bindingRef) },
			bad:        func(d *diary) { d.backOff(bindingRef); d.wait(longestBackOff + time.Minute) },
			complaints: "and none has followed",
		},
		"who knows of the deletion creates": {
			property: noFight,
			good:     inTurn(deleted, begins, creates),
			bad: inTurn(deleted, func(d *diary) {
				d.add(history.Event{Kind: history.Deliver, Process: Manager, Incarnation: 1, Ref: syncRef(shop),
					Received: []byte(`{"deletionTimestamp":"now"}`)})
			}, begins, creates),
			complaints: "knew that RepoSync shop/repo-sync is being deleted",
		},
		"somebody creates twice in one go": {
			property: noFight,
			good: func(d *diary) {
				for range 2 {
					d.begin(Manager)
					d.add(history.Event{Kind: history.Request, Process: Manager, Incarnation: 1,
						Reconcile: history.Reconcile{Key: pass.Key, N: d.Len()}, Verb: "create",
						Ref: bindingRef, Code: 403, Received: []byte("NamespaceTerminating")})
				}
			},
			bad:        inTurn(begins, creates, creates),
			complaints: "twice in one go",
		},
		"a RepoSync that stays loses its rights": {
			property:   siblings,
			good:       func(d *diary) { deleted(d); d.remove(Manager, bindingRef) },
			bad:        func(d *diary) { d.change(Manager, bindingRef, func(o *object) { o.Subjects = nil }) },
			complaints: "the reconciler of RepoSync shop/repo-sync has lost its rights",
		},
		"what is declared is not there": {
			property:   synced,
			good:       func(d *diary) { deleted(d); d.remove(reconciler, settings) },
			bad:        func(d *diary) { d.remove("user", settings) },
			complaints: "of what RepoSync shop/repo-sync declares there is only",
		},
		"a RepoSync is still there": {
			property:   gone,
			good:       inTurn(deleted, off, func(d *diary) { d.without(Manager, v1beta1.ReconcilerManagerFinalizer) }),
			bad:        inTurn(deleted, off),
			complaints: "RepoSync shop/repo-sync is still there",
		},
		"a namespace is still there": {
			property: gone, wanted: true,
			good:       func(d *diary) { d.remove("namespace-controller", namespaceRef(shop.Namespace)) },
			bad:        func(*diary) {},
			complaints: "namespace shop is still there",
		},
	} {
		t.Run(name, func(t *testing.T) {
			judge := func(happens func(*diary)) error {
				r := NewRecord(Setting{Syncs: []types.NamespacedName{shop}, Chain: 1})
				if c.wanted {
					r.wanted[shop.Namespace] = 1
				}
				d := syncedDiary()
				happens(d)
				if c.ended {
					r.measured = 1
				}
				return r.properties().Judge(c.property)(&d.History)
			}
			if err := judge(c.good); err != nil {
				t.Errorf("%q fails without reason: %v", c.property, err)
			}
			if err := judge(c.bad); err == nil || !strings.Contains(err.Error(), c.complaints) {
				t.Errorf("%q: want %q, got %v", c.property, c.complaints, err)
			}
		})
	}
}
