// This file holds the Bundles that a deployment generates: one for each template that it has had,
// until the newest one is installed.

package bundledeployment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/bundledeployment/v1alpha1"
)

// maxBundles is how many Bundles a deployment may have. More are a sign of a loop.
const maxBundles = 4

// errMostBundles is final: people have to look.
var errMostBundles = errors.New("reached the maximum generated Bundle limit")

// templateHashLabel is on every generated Bundle.
const templateHashLabel = "core.rukpak.io/template-hash"

// bundle finds the Bundle of the deployment's template, or makes it. It returns the others as well.
func (p *pass) bundle(ctx context.Context) (wanted *v1alpha1.Bundle, others []v1alpha1.Bundle, err error) {
	marks := map[string]string{
		v1alpha1.OwnerKindLabel: v1alpha1.BundleDeploymentKind, v1alpha1.OwnerNameLabel: p.bd.Name}
	var list v1alpha1.BundleList
	if err := p.Client.List(ctx, &list, client.MatchingLabels(marks)); err != nil {
		return nil, nil, err
	}
	hash := templateHash(p.bd.Spec.Template)
	for i := range list.Items {
		if b := &list.Items[i]; b.Labels[templateHashLabel] == hash && metav1.IsControlledBy(b, p.bd) {
			wanted = b
		} else {
			others = append(others, *b)
		}
	}
	slices.SortFunc(others, func(a, b v1alpha1.Bundle) int { return strings.Compare(a.Name, b.Name) })
	if len(list.Items) > maxBundles {
		return nil, nil, errMostBundles
	}
	if wanted != nil {
		return wanted, others, nil
	}
	made := &v1alpha1.Bundle{Spec: *p.bd.Spec.Template.Spec.DeepCopy()}
	made.Name = p.bd.Name + "-" + hash
	made.Labels = maps.Clone(p.bd.Spec.Template.Metadata.Labels)
	if made.Labels == nil {
		made.Labels = map[string]string{}
	}
	maps.Copy(made.Labels, marks)
	made.Labels[templateHashLabel] = hash
	made.OwnerReferences = []metav1.OwnerReference{owner(p.bd)}
	if err := p.Client.Create(ctx, made); err != nil {
		return nil, nil, fmt.Errorf("making a bundle: %w", err)
	}
	return made, others, nil
}

func templateHash(t *v1alpha1.BundleTemplate) string {
	data, err := json.Marshal(t)
	if err != nil {
		panic(fmt.Sprintf("bundledeployment: a template cannot be encoded: %v", err))
	}
	h := fnv.New32a()
	h.Write(data)
	return rand.SafeEncodeString(fmt.Sprint(h.Sum32()))
}

// forget removes the Bundles that the installed one replaces.
func (p *pass) forget(ctx context.Context, others []v1alpha1.Bundle) error {
	for i := range others {
		if others[i].DeletionTimestamp.IsZero() {
			if err := p.Client.Delete(ctx, &others[i]); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("removing bundle %s: %w", others[i].Name, err)
			}
		}
	}
	return nil
}
