// This file reads the objects, release records and the status that the server stores at a moment.

package clusterextension

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
)

// versionKey is the annotation of every object whose content depends on the version, and healthKey
// that of objects that are healthy when they are available.
const versionKey, healthKey = "shop.example/version", "wavetank.example/health"

// recordKinds are the Secrets of release records, indices and chunks.
var recordKinds = history.Ref{Kind: "Secret", Namespace: clusterextension.DefaultNamespace}

// extensionRef is the extension.
var extensionRef = history.Ref{Group: v1.GroupVersion.Group, Kind: v1.ClusterExtensionKind, Name: app}

// object is the part of a stored object that the properties read.
type object struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Status   struct {
		ObservedGeneration int64 `json:"observedGeneration"`
		AvailableReplicas  int32 `json:"availableReplicas"`
	} `json:"status"`
}

func (o *object) version() string { return o.Metadata.Annotations[versionKey] }

// ill reports whether an object should be available, and is not.
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

// recordOf returns the record whose index is the Secret, or nil if there is none of the extension.
func recordOf(o *view.Object[corev1.Secret]) *record {
	s := o.Value()
	if s.Labels["type"] != "index" || s.Labels["name"] != app {
		return nil
	}
	revision, err := strconv.Atoi(s.Labels["version"])
	if err != nil {
		panic(fmt.Sprintf("the revision of record %s: %v", s.Name, err))
	}
	return &record{o, revision, s.Labels["status"], s.Annotations[v1.BundleVersionKey]}
}

// said is the content of a status.
type said struct {
	installed       string // version, if any
	isInstalled     bool
	reason, message string // of Progressing
}

// String implements fmt.Stringer.
func (s said) String() string {
	return fmt.Sprintf("installed %q, %s: %s", s.installed, s.reason, s.message)
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

// records returns the release records that exist.
func (b *Record) records() (out []*record) {
	for o := range b.secrets.Live() {
		if r := recordOf(o); r != nil {
			out = append(out, r)
		}
	}
	return out
}

// deployed returns the newest record with that status, or nil if there is none.
func (b *Record) deployed() (newest *record) {
	for _, r := range b.records() {
		if r.status == "deployed" && (newest == nil || r.revision > newest.revision) {
			newest = r
		}
	}
	return newest
}

// objects returns the objects with the extension's label.
func (b *Record) objects() (out []*view.Object[object]) {
	for o := range b.all.Live() {
		own := o.Ref.Kind == v1.ClusterExtensionKind || o.Ref.Kind == "Secret"
		if !own && o.Value().Metadata.Labels[v1.OwnerNameLabel] == app {
			out = append(out, o)
		}
	}
	return out
}

// healthy reports whether all objects of a version are that have to be available.
func (b *Record) healthy(version string) bool {
	return !slices.ContainsFunc(b.objects(), func(o *view.Object[object]) bool {
		return o.Value().version() == version && o.Value().ill()
	})
}

// complete reports whether every object of a version exists and is healthy.
func (b *Record) complete(version string) bool {
	return b.healthy(version) && sizes[version] ==
		count(b.objects(), func(o *view.Object[object]) bool { return o.Value().version() == version })
}

// saidFor returns for how long in a span the status held, and whether that is enough.
func (b *Record) saidFor(from, to history.Time, holds func(said) bool) (reported history.Time, enough bool) {
	ext := b.extensions.Named(extensionRef)
	reported = ext.Held(from, to, func(ext *v1.ClusterExtension) bool { return holds(saidBy(ext)) })
	return reported, reported >= time.Duration(share*float64(to-from))
}

// versions returns the versions of which there are objects, lowest first. Of an object that was
// just changed, the version before counts.
func (b *Record) versions(changed *view.Object[object]) (out []string) {
	for _, o := range b.objects() {
		state := o.Latest()
		if o == changed {
			state = o.Previous()
		}
		if state != nil && state.Value.version() != "" {
			out = append(out, state.Value.version())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// manifest returns the objects of a record's manifest. It does not use the operator's code.
func (b *Record) manifest(r *record) (map[history.Ref]map[string]any, error) {
	index := r.secret.Value().Data
	data := bytes.NewBuffer(bytes.Clone(index["chunk"]))
	var chunks []string
	if err := json.Unmarshal(index["extraChunks"], &chunks); err != nil {
		return nil, fmt.Errorf("the names of the chunks of %s: %w", r.secret.Ref, err)
	}
	ref := r.secret.Ref
	for _, name := range chunks {
		ref.Name = name
		if chunk := b.secrets.Named(ref); chunk != nil && chunk.Exists() {
			data.Write(chunk.Value().Data["chunk"])
		}
	}
	var release helmrelease.Release
	z, err := gzip.NewReader(data)
	if err == nil {
		err = json.NewDecoder(z).Decode(&release)
	}
	if err != nil {
		return nil, fmt.Errorf("record %s cannot be read: %w", r.secret.Ref, err)
	}
	out := map[history.Ref]map[string]any{}
	for d := yaml.NewYAMLOrJSONDecoder(strings.NewReader(release.Manifest), 1024); ; {
		var u unstructured.Unstructured
		if err := d.Decode(&u); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("the manifest in %s: %w", r.secret.Ref, err)
		}
		kind := u.GroupVersionKind()
		out[history.Ref{Group: kind.Group, Kind: kind.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}] = u.Object
	}
}
