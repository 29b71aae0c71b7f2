// This file refuses definitions and webhook configurations that would silently replace others.

package sim

import (
	"fmt"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/models/apiserver"
)

// definition is a custom resource definition or a webhook configuration, and where it is from.
type definition struct {
	from string
	obj  client.Object
}

// definitionKey is what must be unique in a cluster.
type definitionKey struct{ group, kind, name string }

func (d definition) key() definitionKey {
	switch d.obj.(type) {
	case *admissionregv1.MutatingWebhookConfiguration:
		return definitionKey{admissionregv1.GroupName, "MutatingWebhookConfiguration", d.obj.GetName()}
	case *admissionregv1.ValidatingWebhookConfiguration:
		return definitionKey{admissionregv1.GroupName, "ValidatingWebhookConfiguration", d.obj.GetName()}
	}
	return definitionKey{apiextensionsv1.GroupName, "CustomResourceDefinition", d.obj.GetName()}
}

// content is what the definition means to a server, without its labels and annotations.
func (d definition) content() any {
	switch obj := d.obj.(type) {
	case *admissionregv1.MutatingWebhookConfiguration:
		return obj.Webhooks
	case *admissionregv1.ValidatingWebhookConfiguration:
		return obj.Webhooks
	case *apiextensionsv1.CustomResourceDefinition:
		return &obj.Spec
	}
	return d.obj
}

// declare remembers an applied object if it is one that Install takes, too: Install must not replace it either.
func (u *userClient) declare(obj client.Object) {
	switch obj.(type) {
	case *admissionregv1.MutatingWebhookConfiguration, *admissionregv1.ValidatingWebhookConfiguration,
		*apiextensionsv1.CustomResourceDefinition:
		d := definition{"an object given to w.Apply", obj}
		if was, ok := u.declared[d.key()]; ok && equality.Semantic.DeepEqual(was.content(), d.content()) {
			return // this keeps the file that it is from
		}
		d.obj = obj.DeepCopyObject().(client.Object)
		u.declared[d.key()] = d
	}
}

// refuseReplacing ends the run if a definition is to replace another of the same name: one that the cluster has, or one
// that is given with it.
func (w *World) refuseReplacing(server *apiserver.Server, user *userClient, given map[definitionKey]definition, d definition) {
	key := d.key()
	was, ok := given[key]
	if !ok {
		if was, ok = user.declared[key]; ok {
			_, ok = server.Lookup(key.group, key.kind, "", key.name) // it may have been deleted since
		}
	}
	if !ok || was.obj == d.obj || equality.Semantic.DeepEqual(was.content(), d.content()) {
		return
	}
	what := fmt.Sprintf("w.Install: %s %q of %s differs from the one of %s, which it would replace", key.kind, key.name, d.from, was.from)
	if key.kind == "CustomResourceDefinition" {
		w.misuse("%s; install one of the two, and to change an installed definition in the middle of a scenario, w.Apply the new one", what)
	}
	w.misuse("%s, and its webhooks would be called no more; kubebuilder calls these objects alike in every operator until kustomize "+
		"gives them a prefix: set namePrefix in the operator's config/default/kustomization.yaml and install what kustomize build "+
		"prints, or read the object, set its name and give it to w.Install; to change an installed one, w.Apply the new one", what)
}
