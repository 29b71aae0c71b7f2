package mutants

import "strings"

// inTrust is a mutant of trust-manager.
func inTrust(name, file, mistake string, edits ...Edit) Bench {
	return Bench{name, Mutant{Operator: "trustmanager", Package: ".", Module: trust, File: file, Mistake: mistake,
		Edits: edits}}
}

// Places of trust-manager that bugs change.
const (
	trustSetup  = "pkg/bundle/controller.go"
	trustTarget = "pkg/bundle/internal/target/target.go"

	trustImports = "	\"sigs.k8s.io/controller-runtime/pkg/client\"\n"
	trustEvents  = "	\"sigs.k8s.io/controller-runtime/pkg/event\"\n"

	copyEvents = "				&metav1.PartialObjectMetadata{" +
		"TypeMeta: metav1.TypeMeta{APIVersion: \"v1\", Kind: \"ConfigMap\"}},\n" +
		`				handler.TypedEnqueueRequestForOwner[*metav1.PartialObjectMetadata](
					mgr.GetScheme(),
					mgr.GetRESTMapper(),
					&trustapi.Bundle{},
					handler.OnlyControllerOwner(),
				),
`
	namespaceEvents = `				return namespaceSelector.Matches(labels.Set(obj.GetLabels()))
			})).
`
	sourceEvents = `			}), builder.WithPredicates(inNamespacePredicate(b.Options.Namespace))).

		// Watch Secrets in trust Namespace.
`
	reconcilerField = "	Cache client.Reader\n"
	copyHash        = "	bundleHash := TrustBundleHash([]byte(bundlePEM), bundleTarget.AdditionalFormats, " +
		"bundleTarget.ConfigMap)\n"
)

var benchTrust = []Bench{
	inTrust("failed-copy-passed-over", trustFile,
		"a copy that cannot be written is passed over, and all is called synced",
		Edit{"			return statusPatch, err\n", "			continue\n"}),
	inTrust("status-error-logged", trustFile, "the error of the status write is logged and forgotten",
		Edit{`			err = fmt.Errorf("failed to apply bundle status patch: %w", err)
			return ctrl.Result{}, utilerrors.NewAggregate([]error{resultErr, err})
`, "			logf.FromContext(ctx).Error(err, \"failed to apply bundle status patch\")\n"}),
	inTrust("newest-generation-called-synced", trustFile,
		"the bundle is read again before its status is written, with a generation that was not worked on",
		Edit{"	syncedCondition := metav1.Condition{\n",
			`	if err := b.client.Get(ctx, req.NamespacedName, &bundle); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	syncedCondition := metav1.Condition{
`}),
	inTrust("nothing-written-nothing-said", trustFile, "the status is written only together with a copy",
		Edit{"	if !needsUpdate && bundleHasCondition(bundle.Status.Conditions, syncedCondition) {\n",
			"	if !needsUpdate {\n"}),
	inTrust("new-namespace-unnoticed", trustSetup, "a new namespace begins no reconcile",
		Edit{namespaceEvents, strings.Replace(namespaceEvents, "})).", `}), builder.WithPredicates(predicate.Funcs{
				CreateFunc: func(event.CreateEvent) bool { return false },
			})).`, 1)}, Edit{trustImports, trustImports + trustEvents}),
	inTrust("deleted-copy-unnoticed", trustSetup, "a copy that is deleted begins no reconcile",
		Edit{copyEvents, copyEvents + `				predicate.TypedFuncs[*metav1.PartialObjectMetadata]{
					DeleteFunc: func(event.TypedDeleteEvent[*metav1.PartialObjectMetadata]) bool { return false },
				},
`}, Edit{trustImports, trustImports + trustEvents}),
	inTrust("unsynced-bundle-skipped", trustSetup, "a source begins no reconcile of a bundle that is not synced yet",
		Edit{"sourceSelectsObject(s.ConfigMap, obj) {", "sourceSelectsObject(s.ConfigMap, obj) &&\n" +
			"						meta.IsStatusConditionTrue(bundle.Status.Conditions, " +
			"trustapi.BundleConditionSynced) {"},
		Edit{"	corev1 \"k8s.io/api/core/v1\"\n",
			"	corev1 \"k8s.io/api/core/v1\"\n	\"k8s.io/apimachinery/pkg/api/meta\"\n"}),
	inTrust("changed-source-unnoticed", trustSetup, "a source that changes begins no reconcile",
		Edit{sourceEvents, strings.Replace(sourceEvents, "Namespace))).", `Namespace), predicate.Funcs{
				UpdateFunc: func(event.UpdateEvent) bool { return false },
			})).`, 1)}, Edit{trustImports, trustImports + trustEvents}),
	inTrust("hash-not-compared", trustTarget,
		"a copy with the right key counts as right, whatever certificates it holds",
		Edit{"		obj.GetLabels()[trustapi.BundleLabelKey] != bundle.Name ||\n" +
			"		obj.GetAnnotations()[trustapi.BundleHashAnnotationKey] != bundleHash\n",
			"		obj.GetLabels()[trustapi.BundleLabelKey] != bundle.Name\n"}),
	inTrust("hash-kept-by-generation", trustTarget,
		"the hash of the certificates is kept for each generation of a bundle",
		Edit{reconcilerField, reconcilerField + "\n	hashes map[string]string\n"},
		Edit{copyHash, `	generation := fmt.Sprintf("%s/%d", bundle.UID, bundle.Generation)
	if r.hashes == nil {
		r.hashes = map[string]string{}
	}
	if r.hashes[generation] == "" {
		r.hashes[generation] = TrustBundleHash([]byte(bundlePEM), bundleTarget.AdditionalFormats,
			bundleTarget.ConfigMap)
	}
	bundleHash := r.hashes[generation]
`}),
}
