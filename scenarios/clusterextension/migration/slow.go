// This file holds workloads whose migrations take time or fail, and that are ready after that.

package migration

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/actor"
)

// slowWorkload is one generation of a Deployment that has something to wait for.
type slowWorkload struct {
	ref          history.Ref
	generation   int64
	dataset      string
	level        string
	takes, ready time.Duration
	fails        int // how often it still fails; -1 for always
}

// newSlowWorkload reads the annotations of a Deployment. It is nil if there is nothing to wait for.
func newSlowWorkload(ref history.Ref, o *metav1.PartialObjectMetadata) *slowWorkload {
	takes, isSlow := o.Annotations[Takes]
	fails, mayFail := o.Annotations[Fails]
	ready, isLate := o.Annotations[Ready]
	if !isSlow && !mayFail && !isLate {
		return nil
	}
	w := &slowWorkload{ref: ref, generation: o.Generation, dataset: o.Annotations[Dataset],
		level: o.Annotations[Level], takes: duration(ref, takes), ready: duration(ref, ready)}
	switch n, err := strconv.Atoi(fails); {
	case fails == Always:
		w.fails = -1
	case err == nil:
		w.fails = n
	case mayFail:
		panic(fmt.Sprintf("migration: %s fails %q times; say a number or %q", ref, fails, Always))
	}
	return w
}

func duration(ref history.Ref, text string) time.Duration {
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(fmt.Sprintf("migration: a duration of %s: %v", ref, err))
	}
	return d
}

// running is a workload with how often it has failed so far.
type running struct {
	slowWorkload
	failed int
}

// wanted is what is running; nothing if r is nil.
func (r *running) wanted() slowWorkload {
	if r == nil {
		return slowWorkload{}
	}
	return r.slowWorkload
}

// key names the steps of a workload.
func (r *running) key() string { return r.ref.String() }

// replaced ends a workload that another one takes the place of, or none.
func (d *Datasets) replaced(ref history.Ref) {
	was := d.slow[ref]
	delete(d.slow, ref)
	if was == nil || d.half[was.dataset] == "" {
		return
	}
	d.half[was.dataset] = "left half migrated to level " + was.level
}

// begins begins with a workload: with its migration, unless its dataset is at that level or above.
func (d *Datasets) begins(w *slowWorkload) {
	r := &running{slowWorkload: *w}
	d.slow[w.ref] = r
	to, err := strconv.Atoi(w.level)
	migrates := err == nil && to > 0 && (to > d.levelOf(w.dataset) || d.half[w.dataset] != "")
	if migrates {
		d.half[w.dataset] = "being migrated to level " + w.level
	} else {
		d.apply(w.ref, w.dataset, w.level) // which says so if the dataset is above its level
	}
	d.cluster.After(0, r.key(), func() {
		d.reports(r, 0)
		d.after(r, migrates)
	})
}

// after continues with a workload: its migration takes its time, and then it is ready.
func (d *Datasets) after(r *running, migrates bool) {
	switch {
	case !migrates:
		d.cluster.After(r.ready, r.key(), func() { d.reports(r, 1) })
	case r.fails < 0:
		d.cluster.Again(max(r.takes, time.Second), r.key(), func() { d.migrated(r) })
	default:
		d.cluster.After(r.takes, r.key(), func() { d.migrated(r) })
	}
}

// migrated ends a migration, or one try of it.
func (d *Datasets) migrated(r *running) {
	if d.slow[r.ref] != r {
		return
	}
	if r.fails < 0 || r.failed < r.fails {
		r.failed++
		history.AddEffect(d.ctx, history.Effect{Kind: Failed, Key: r.dataset + "/" + r.level,
			Detail: fmt.Sprintf("%s cannot migrate dataset %s to level %s, try %d", r.ref, r.dataset, r.level,
				r.failed)})
		d.after(r, true)
		return
	}
	delete(d.half, r.dataset)
	d.apply(r.ref, r.dataset, r.level)
	d.after(r, false)
	d.look()
}

// reports writes the status of a Deployment with one pod.
func (d *Datasets) reports(r *running, available int32) {
	path := actor.Path("apps", "v1", r.ref.Namespace, "deployments", r.ref.Name)
	var is appsv1.Deployment
	if d.slow[r.ref] != r || !actor.Get(d.cluster, path, &is) {
		return
	}
	is.Status = appsv1.DeploymentStatus{ObservedGeneration: r.generation, Replicas: 1, UpdatedReplicas: 1,
		ReadyReplicas: available, AvailableReplicas: available, UnavailableReplicas: 1 - available}
	if err := actor.Do(d.cluster, http.MethodPut, path+"/status", &is, nil); err != nil {
		panic(fmt.Sprintf("migration: a status is refused: %v", err)) // it was read just now
	}
}
