// This file exists for what stands behind the operator: the charts that bundles hold, and whoever
// unpacks them.

package bundledeployment

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/controllers/bundledeployment/v1alpha1"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/namespace"
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
		root := "charts/" + name + "/"
		err := fs.WalkDir(files, strings.TrimSuffix(root, "/"), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := files.ReadFile(path)
			buffered = append(buffered, &loader.BufferedFile{Name: strings.TrimPrefix(path, root), Data: data})
			return err
		})
		if err == nil {
			out[name], err = loader.LoadFiles(buffered)
		}
		if err != nil {
			panic(fmt.Sprintf("the embedded chart %s cannot be loaded: %v", name, err))
		}
	}
	return out
}

// store hands out charts by the image of a bundle.
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
	// Refuses are images that cannot be unpacked, and why.
	Refuses map[string]string

	cluster actor.Cluster
}

// Name implements actor.Actor.
func (*Unpacker) Name() string { return "unpacker" }

// Begin implements actor.Actor.
func (u *Unpacker) Begin(c actor.Cluster) { u.cluster = c }

// Observe implements actor.Actor.
func (u *Unpacker) Observe(c apiserver.Change) {
	if c.Group != v1alpha1.GroupVersion.Group || c.Resource != "bundles" || c.Type != "ADDED" {
		return
	}
	var b v1alpha1.Bundle
	if err := json.NewDecoder(bytes.NewReader(c.Object)).Decode(&b); err != nil {
		panic(fmt.Sprintf("a stored bundle cannot be decoded: %v", err))
	}
	u.cluster.After(u.After, "unpack "+b.Name, func() { u.unpack(&b) })
}

func (u *Unpacker) unpack(b *v1alpha1.Bundle) {
	b.Status = v1alpha1.BundleStatus{
		Phase: v1alpha1.PhaseUnpacked, ResolvedSource: &b.Spec.Source, ContentURL: "https://content.example/" + b.Name + ".tgz",
		ObservedGeneration: b.Generation,
	}
	done := metav1.Condition{Type: v1alpha1.TypeUnpacked, Status: metav1.ConditionTrue, Reason: v1alpha1.UnpackSuccessful,
		LastTransitionTime: metav1.NewTime(u.cluster.Clock().Truncate(time.Second))}
	if why := u.Refuses[b.Spec.Source.Image.Ref]; why != "" {
		b.Status = v1alpha1.BundleStatus{Phase: v1alpha1.PhaseFailing, ObservedGeneration: b.Generation}
		done.Status, done.Reason, done.Message = metav1.ConditionFalse, v1alpha1.UnpackFailed, why
	}
	b.Status.Conditions = []metav1.Condition{done}
	path := actor.Path(v1alpha1.GroupVersion.Group, v1alpha1.GroupVersion.Version, "", "bundles", b.Name)
	// Whoever has changed or removed the bundle meanwhile gets a new one made, or wants none.
	_ = actor.Do(u.cluster, http.MethodPut, path+"/status", b, nil)
}

// holder is a controller that has a finalizer on ConfigMaps, and takes its time to take it off one
// that is being deleted.
type holder struct {
	after   time.Duration
	cluster actor.Cluster
}

const hold = "example.com/hold"

// Name implements actor.Actor.
func (*holder) Name() string { return "holder" }

// Begin implements actor.Actor.
func (o *holder) Begin(c actor.Cluster) { o.cluster = c }

// Observe implements actor.Actor.
func (o *holder) Observe(c apiserver.Change) {
	var cm corev1.ConfigMap
	if c.Group != "" || c.Resource != "configmaps" || c.Type != "MODIFIED" || !actor.Decode(c.Object, &cm) || cm.DeletionTimestamp == nil ||
		!slices.Contains(cm.Finalizers, hold) {
		return
	}
	o.cluster.After(o.after, "release "+cm.Namespace+"/"+cm.Name, func() {
		cm.Finalizers, cm.ResourceVersion = nil, ""
		// It may be another one by now, which the server knows by its uid.
		_ = actor.Do(o.cluster, http.MethodPut, actor.Path("", "v1", cm.Namespace, "configmaps", cm.Name), &cm, nil)
	})
}

// namespaces is the namespace controller of a world: it takes its time before it begins to empty a
// namespace.
func (s Setting) namespaces() actor.Actor {
	c := namespace.New()
	if s.OldServer {
		c = namespace.New(namespace.RefuseSecondDelete())
	}
	return slowly{c, s.Terminates}
}

type slowly struct {
	actor.Actor
	begins time.Duration
}

// Serve implements actor.Server.
func (s slowly) Serve(server *apiserver.Server) { s.Actor.(actor.Server).Serve(server) }

// Begin implements actor.Actor.
func (s slowly) Begin(c actor.Cluster) { s.Actor.Begin(slowCluster{c, s.begins}) }

type slowCluster struct {
	actor.Cluster
	begins time.Duration
}

// After implements actor.Cluster.
func (c slowCluster) After(d time.Duration, key string, step func()) {
	if strings.HasPrefix(key, "wait ") {
		d = max(d, c.begins)
	}
	c.Cluster.After(d, key, step)
}
