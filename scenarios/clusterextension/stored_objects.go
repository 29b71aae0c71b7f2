// This file holds what the server stores at a moment: objects, release records and the status.

package clusterextension

import (
	"fmt"
	"iter"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
)

// versionKey is on every object whose content belongs to one version, and healthKey on those that
// are healthy when they are available.
const versionKey, healthKey = "shop.example/version", "wavetank.example/health"

// recordKinds are the Secrets of release records, indices and chunks.
var recordKinds = history.Ref{Kind: "Secret", Namespace: clusterextension.DefaultNamespace}

// extensionRef is the extension.
var extensionRef = history.Ref{Group: v1.GroupVersion.Group, Kind: v1.ClusterExtensionKind, Name: app}

// object is what the properties read of any stored object.
type object struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Status   struct {
		ObservedGeneration int64 `json:"observedGeneration"`
		AvailableReplicas  int32 `json:"availableReplicas"`
	} `json:"status"`
}

func (o *object) version() string { return o.Metadata.Annotations[versionKey] }

// ill says whether an object should be available, and is not.
func (o *object) ill() bool {
	return o.Metadata.Annotations[healthKey] != "" &&
		(o.Status.ObservedGeneration < o.Metadata.Generation || o.Status.AvailableReplicas < 1)
}

// record is one release record.
type record struct {
	secret          *view.Object[corev1.Secret]
	revision        int
	status, version string
}

// recordOf is the record of which a Secret is the index, if it is one of the extension.
func recordOf(o *view.Object[corev1.Secret]) (r record, is bool) {
	s := o.Value()
	if s.Labels["type"] != "index" || s.Labels["name"] != app {
		return record{}, false
	}
	revision, err := strconv.Atoi(s.Labels["version"])
	if err != nil {
		panic(fmt.Sprintf("the revision of record %s: %v", s.Name, err))
	}
	return record{o, revision, s.Labels["status"], s.Annotations[v1.BundleVersionKey]}, true
}

// since is when it came to its status.
func (r *record) since() (at history.Time) {
	for _, s := range slices.Backward(r.secret.States) {
		if s.Value.Labels["status"] != r.status {
			break
		}
		at = s.At
	}
	return at
}

// said is what a status says.
type said struct {
	installed       string // version, if any
	isInstalled     bool
	reason, message string // of Progressing
}

func saidBy(ext *v1.ClusterExtension) said {
	s := said{isInstalled: apimeta.IsStatusConditionTrue(ext.Status.Conditions, v1.TypeInstalled)}
	if i := ext.Status.Install; i != nil {
		s.installed = i.Bundle.Version
	}
	if p := apimeta.FindStatusCondition(ext.Status.Conditions, v1.TypeProgressing); p != nil {
		s.reason, s.message = p.Reason, p.Message
	}
	return s
}

// records are those that there are.
func (b *Record) records() iter.Seq[*record] {
	return func(yield func(*record) bool) {
		for o := range b.secrets.Live() {
			if r, is := recordOf(o); is && !yield(&r) {
				return
			}
		}
	}
}

// deployed is the newest record that says so.
func (b *Record) deployed() (newest *record) {
	for r := range b.records() {
		if r.status == "deployed" && (newest == nil || r.revision > newest.revision) {
			newest = r
		}
	}
	return newest
}

// objects are those that say that they belong to the extension.
func (b *Record) objects() iter.Seq[*view.Object[object]] {
	return func(yield func(*view.Object[object]) bool) {
		for o := range b.all.Live() {
			own := o.Ref.Kind == v1.ClusterExtensionKind || o.Ref.Kind == "Secret"
			if !own && o.Value().Metadata.Labels[v1.OwnerNameLabel] == app && !yield(o) {
				return
			}
		}
	}
}

// healthySince is since when a version is healthy, as far as its objects say what that means, and
// whether it is.
func (b *Record) healthySince(version string) (since history.Time, healthy bool) {
	for o := range b.objects() {
		switch is := o.Value(); {
		case is.version() != version || is.Metadata.Annotations[healthKey] == "":
		case is.ill():
			return 0, false
		default:
			for _, s := range slices.Backward(o.States) {
				if s.Value.ill() || s.Value.version() != version {
					break
				}
				since = max(since, s.At)
			}
		}
	}
	return since, true
}

// complete says whether every object of a version is there, and healthy.
func (b *Record) complete(version string) bool {
	n := 0
	for o := range b.objects() {
		if o.Value().version() == version && !o.Value().ill() {
			n++
		}
	}
	return n == map[string]int{one: 2, two: 3, refused: 4, hooked: 3, slow: 3, broken: 3, three: 2}[version]
}

// saidFor is for how long in a span the status said what it should.
func (b *Record) saidFor(from, to history.Time, holds func(said) bool) history.Time {
	ext := b.extensions.Named(extensionRef)
	return ext.Held(from, to, func(ext *v1.ClusterExtension) bool { return holds(saidBy(ext)) })
}

// versions are those of which something is there, lowest first; of an object that was just changed,
// what was there before.
func (b *Record) versions(changed *view.Object[object]) (out []string) {
	add := func(version string) {
		if version != "" && !slices.Contains(out, version) {
			out = append(out, version)
		}
	}
	for o := range b.objects() {
		if o != changed {
			add(o.Value().version())
		}
	}
	if changed != nil && changed.Previous() != nil {
		add(changed.Previous().Value.version())
	}
	slices.Sort(out)
	return out
}
