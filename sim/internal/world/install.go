package world

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/definitions"
	"github.com/wavetank/wavetank/sim/internal/user"
)

// Install adds custom resource definitions and webhook configurations.
func (a *actions) Install(crds ...any) {
	a.panicIfOver()
	a.install(a.wire.Server(), a.user, crds)
}

func (a *actions) install(server *apiserver.Server, u *user.User, args []any) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	var webhooks []client.Object
	given := map[definitions.Key]definitions.Definition{}
	for _, arg := range args {
		found, err := definitions.Of(arg)
		if err != nil {
			a.misuse("%v", err)
		}
		for _, d := range found {
			a.refuseReplacing(server, u, given[d.Key()], d)
			given[d.Key()] = d
			if crd, ok := d.Object.(*apiextensionsv1.CustomResourceDefinition); ok {
				crds = append(crds, crd)
			} else {
				webhooks = append(webhooks, d.Object.DeepCopyObject().(client.Object))
			}
		}
	}
	for _, d := range given {
		u.Declare(d)
	}
	install := server.Install
	if a.real != nil {
		install = a.real.server.Install
	}
	if err := install(crds...); err != nil {
		a.misuse("w.Install: %v", err)
	}
	a.apply(u, webhooks)
}

// refuseReplacing ends the run if a definition is to replace another of the same name: one that is
// given with it, or one that the cluster has.
func (a *actions) refuseReplacing(server *apiserver.Server, u *user.User, was, d definitions.Definition) {
	key := d.Key()
	ok := was.Object != nil
	if !ok {
		if was, ok = u.Declared(key); ok {
			_, ok = server.Lookup(key.Group, key.Kind, "", key.Name) // it may have been deleted since
		}
	}
	if !ok || was.Same(d) {
		return
	}
	what := fmt.Sprintf("w.Install: %s %q of %s differs from the one of %s, which it would replace",
		key.Kind, key.Name, d.From, was.From)
	if key.Kind == "CustomResourceDefinition" {
		a.misuse("%s; install one of the two, and to change an installed definition in the middle of a scenario, "+
			"w.Apply the new one", what)
	}
	a.misuse("%s, and its webhooks would be called no more; kubebuilder calls these objects alike in every operator "+
		"until kustomize gives them a prefix: set namePrefix in the operator's config/default/kustomization.yaml and "+
		"install what kustomize build prints, or read the object, set its name and give it to w.Install; to change an "+
		"installed one, w.Apply the new one", what)
}
