// This file holds what stands behind the operator: the charts that bundles hold, and whoever
// unpacks them.

package bundledeployment

import (
	"context"
	"embed"
	"fmt"
	"net/http"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/controllers/bundledeployment/v1alpha1"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

//go:embed charts
var files embed.FS

// charts are the content of all bundles, by the name of their image. All runs share them: nobody
// changes a chart.
var charts = load("app", "wide", "kinds")

func load(names ...string) map[string]*chart.Chart {
	out := map[string]*chart.Chart{}
	for _, name := range names {
		var buffered []*loader.BufferedFile
		for _, path := range []string{"Chart.yaml", "templates/app.yaml", "values.yaml"} {
			data, err := files.ReadFile("charts/" + name + "/" + path)
			if err != nil {
				panic(err) // it is embedded
			}
			buffered = append(buffered, &loader.BufferedFile{Name: path, Data: data})
		}
		c, err := loader.LoadFiles(buffered)
		if err != nil {
			panic(fmt.Sprintf("the embedded chart %s cannot be loaded: %v", name, err))
		}
		out[name] = c
	}
	return out
}

// store returns charts by the image of a bundle.
type store struct{}

// Load implements bundledeployment.Store.
func (store) Load(_ context.Context, bundle *v1alpha1.Bundle) (*chart.Chart, error) {
	if c := charts[bundle.Spec.Source.Image.Ref]; c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("there is no content for image %s", bundle.Spec.Source.Image.Ref)
}

// Unpacker is a model of whoever unpacks Bundles. It is a built-in controller of the world.
type Unpacker struct {
	// After is how long it takes.
	After time.Duration

	cluster actor.Cluster
}

// Name implements actor.Actor.
func (*Unpacker) Name() string { return "unpacker" }

// Begin implements actor.Actor.
func (u *Unpacker) Begin(c actor.Cluster) { u.cluster = c }

// Observe implements actor.Actor.
func (u *Unpacker) Observe(c apiserver.Change) {
	var b v1alpha1.Bundle
	if c.Group != v1alpha1.GroupVersion.Group || c.Resource != "bundles" || c.Type != "ADDED" ||
		!actor.Decode(c.Object, &b) {
		return
	}
	u.cluster.After(u.After, "unpack "+b.Name, func() {
		done := metav1.Condition{Type: v1alpha1.TypeUnpacked, Status: metav1.ConditionTrue,
			Reason:             v1alpha1.UnpackSuccessful,
			LastTransitionTime: metav1.NewTime(u.cluster.Clock().Truncate(time.Second))}
		b.Status = v1alpha1.BundleStatus{
			Phase: v1alpha1.PhaseUnpacked, ResolvedSource: &b.Spec.Source, ObservedGeneration: b.Generation,
			ContentURL: "https://content.example/" + b.Name + ".tgz", Conditions: []metav1.Condition{done},
		}
		path := actor.Path(v1alpha1.GroupVersion.Group, v1alpha1.GroupVersion.Version, "", "bundles", b.Name)
		// Whoever has changed or removed the bundle meanwhile gets a new one made, or wants none.
		_ = actor.Do(u.cluster, http.MethodPut, path+"/status", &b, nil)
	})
}
