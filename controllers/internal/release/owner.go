// This file marks whatever is made for an owner with its owner: the release records, and every
// object of a release, by what is added to its manifest after the chart has been rendered.

package release

import (
	"bytes"
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/lru"
	sigsyaml "sigs.k8s.io/yaml"
)

// OwnedSecrets gives every Secret that is created an owner: with the owner its release records go.
func OwnedSecrets(inner corev1client.SecretInterface, owner metav1.OwnerReference) corev1client.SecretInterface {
	return &ownedSecrets{inner, owner}
}

type ownedSecrets struct {
	corev1client.SecretInterface
	owner metav1.OwnerReference
}

// Create implements corev1client.SecretInterface.
func (s *ownedSecrets) Create(ctx context.Context, in *corev1.Secret, o metav1.CreateOptions) (*corev1.Secret, error) {
	in.OwnerReferences = append(in.OwnerReferences, s.owner)
	return s.SecretInterface.Create(ctx, in, o)
}

// Update implements corev1client.SecretInterface. Helm writes whole records, made afresh.
func (s *ownedSecrets) Update(ctx context.Context, in *corev1.Secret, o metav1.UpdateOptions) (*corev1.Secret, error) {
	in.OwnerReferences = append(in.OwnerReferences, s.owner)
	return s.SecretInterface.Update(ctx, in, o)
}

// Marks is a post-renderer that marks every object of a release as its owner's. The labels replace
// those of the chart.
type Marks struct {
	Labels map[string]string
	Owner  metav1.OwnerReference
	// Known, if set, remembers what came of a manifest: an action and the dry run before it render
	// the same one.
	Known *lru.Cache
}

// Run implements postrender.PostRenderer.
func (m Marks) Run(manifest *bytes.Buffer) (*bytes.Buffer, error) {
	if m.Known == nil {
		return m.mark(manifest)
	}
	key := fmt.Sprint(m.Owner.UID, m.Labels, manifest) // a buffer is printed as what it holds
	if known, ok := m.Known.Get(key); ok {
		return bytes.NewBufferString(known.(string)), nil
	}
	out, err := m.mark(manifest)
	if err == nil {
		m.Known.Add(key, out.String())
	}
	return out, err
}

func (m Marks) mark(manifest *bytes.Buffer) (*bytes.Buffer, error) {
	objects, err := Objects(manifest)
	if err != nil {
		return nil, err
	}
	out := &bytes.Buffer{}
	for _, o := range objects {
		o.SetLabels(m.Labels)
		o.SetOwnerReferences(append(o.GetOwnerReferences(), m.Owner))
		data, err := sigsyaml.Marshal(o.Object)
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		out.Write(data)
	}
	return out, nil
}

// Objects decodes a manifest, in its order.
func Objects(manifest io.Reader) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for d := yaml.NewYAMLOrJSONDecoder(manifest, 1024); ; {
		o := &unstructured.Unstructured{}
		switch err := d.Decode(o); {
		case err == io.EOF:
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("decoding the manifest: %w", err)
		case len(o.Object) > 0:
			out = append(out, o)
		}
	}
}
