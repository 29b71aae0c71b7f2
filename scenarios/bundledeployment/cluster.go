// This file holds the operator's surroundings: the charts in bundles, the controller that unpacks
// them, and controllers that delay a clean-up.

package bundledeployment

import (
	"context"
	"embed"
	"fmt"
	"net/http"
	"slices"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/controllers/bundledeployment/v1alpha1"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
)

//go:embed charts
var files embed.FS

// store returns the charts in bundles, by the names of their images.
type store map[string]*chart.Chart

// charts are the content of all bundles. All runs share them, because charts do not change.
var charts = store{"app": load("app"), "wide": load("wide"), "kinds": load("kinds")}

// Load implements bundledeployment.Store.
func (s store) Load(_ context.Context, bundle *v1alpha1.Bundle) (*chart.Chart, error) {
	if c := s[bundle.Spec.Source.Image.Ref]; c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("there is no content for image %s", bundle.Spec.Source.Image.Ref)
}

func load(name string) *chart.Chart {
	var buffered []*loader.BufferedFile
	for _, path := range []string{"Chart.yaml", "templates/app.yaml", "values.yaml"} {
		data, err := files.ReadFile("charts/" + name + "/" + path)
		worlds.Must(err, "reading an embedded chart")
		buffered = append(buffered, &loader.BufferedFile{Name: path, Data: data})
	}
	c, err := loader.LoadFiles(buffered)
	worlds.Must(err, "loading the embedded chart %s", name)
	return c
}

// responder is a controller of the cluster. It makes one write some time after a change.
type responder struct {
	name  string
	after time.Duration
	// respond returns the write that follows a change, or nil, and the name of that step.
	respond func(actor.Cluster, apiserver.Change) (step string, write func())
	cluster actor.Cluster
}

// Name implements actor.Actor.
func (r *responder) Name() string { return r.name }

// Begin implements actor.Actor.
func (r *responder) Begin(c actor.Cluster) { r.cluster = c }

// Observe implements actor.Actor.
func (r *responder) Observe(c apiserver.Change) {
	if step, write := r.respond(r.cluster, c); write != nil {
		r.cluster.After(r.after, step, write)
	}
}

// unpack marks a new Bundle as unpacked.
func unpack(cluster actor.Cluster, c apiserver.Change) (step string, write func()) {
	var b v1alpha1.Bundle
	group := v1alpha1.GroupVersion
	if c.Group != group.Group || c.Resource != "bundles" || c.Type != "ADDED" || !actor.Decode(c.Object, &b) {
		return "", nil
	}
	return "unpack " + b.Name, func() {
		done := metav1.Condition{Type: v1alpha1.TypeUnpacked, Status: metav1.ConditionTrue,
			Reason:             v1alpha1.UnpackSuccessful,
			LastTransitionTime: metav1.NewTime(cluster.Clock().Truncate(time.Second))}
		b.Status = v1alpha1.BundleStatus{
			Phase: v1alpha1.PhaseUnpacked, ResolvedSource: &b.Spec.Source, ObservedGeneration: b.Generation,
			ContentURL: "https://content.example/" + b.Name + ".tgz", Conditions: []metav1.Condition{done},
		}
		path := actor.Path(group.Group, group.Version, "", "bundles", b.Name)
		// It fails if the bundle has changed or is gone. Then another bundle is made, or none.
		_ = actor.Do(cluster, http.MethodPut, path+"/status", &b, nil)
	}
}

// release removes its finalizer from a ConfigMap that is being deleted.
func release(cluster actor.Cluster, c apiserver.Change) (step string, write func()) {
	var cm corev1.ConfigMap
	if c.Group != "" || c.Resource != "configmaps" || c.Type != "MODIFIED" || !actor.Decode(c.Object, &cm) ||
		cm.DeletionTimestamp == nil || !slices.Contains(cm.Finalizers, "example.com/hold") {
		return "", nil
	}
	return "release " + cm.Namespace + "/" + cm.Name, func() {
		cm.Finalizers, cm.ResourceVersion = nil, ""
		// The server refuses the write if another ConfigMap has the name, because its UID differs.
		path := actor.Path("", "v1", cm.Namespace, "configmaps", cm.Name)
		_ = actor.Do(cluster, http.MethodPut, path, &cm, nil)
	}
}
