package mutants

const kroModule = "github.com/kubernetes-sigs/kro"

// inKro is a mutant of kro.
func inKro(name, file, mistake string, edits ...Edit) Bench {
	return Bench{name, Mutant{Operator: "kro", Package: ".", Module: kroModule, File: file, Mistake: mistake,
		Edits: edits}}
}

// Files of kro that bugs change.
const (
	kroInstance    = "pkg/controller/instance/controller.go"
	kroDeletion    = "pkg/controller/instance/deletion.go"
	kroResources   = "pkg/controller/instance/resources.go"
	kroApplySet    = "pkg/controller/instance/applyset/applyset.go"
	kroDefinition  = "pkg/controller/resourcegraphdefinition/controller_reconcile.go"
	kroDynamic     = "pkg/dynamiccontroller/dynamic_controller.go"
	kroDeleteError = `			dcx.Mark.ResourcesUnderDeletion("deletion blocked: %v", err)
			return err
		}
		conflict = conflict || result.Conflict
`
)

var benchKro = []Bench{
	inKro("delete-by-name", kroApplySet, "an object is deleted by its name, without the UID of the one that was listed",
		Edit{`	uid := candidate.Object.GetUID()
	deleteOpts := metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid},
	}
`, "	deleteOpts := metav1.DeleteOptions{}\n"}),
	inKro("finalizer-without-a-second-look", kroDeletion,
		"the finalizer goes when the last deletes are sent, and their errors are logged",
		Edit{kroDeleteError, `			dcx.Log.Error(err, "deletion blocked")
		}
		conflict = conflict || result.Conflict
`},
		Edit{"	return dcx.delayedRequeue(fmt.Errorf(\"deleting apply-order wave %d\", highest))\n",
			`	if len(wave) == len(candidates) {
		return c.removeFinalizer(dcx)
	}
	return dcx.delayedRequeue(fmt.Errorf("deleting apply-order wave %d", highest))
`}),
	inKro("next-wave-after-a-failure", kroDeletion,
		"what others depend on is deleted although a delete before it failed",
		Edit{"	wave, highest := highestDeletionWave(candidates)\n\n" +
			"	conflict := false\n	for _, candidate := range wave {\n",
			`	_, highest := highestDeletionWave(candidates)
	slices.SortFunc(candidates, func(a, b applyset.OrphanCandidate) int {
		return strings.Compare(b.Object.GetAnnotations()[metadata.ApplyOrderAnnotation],
			a.Object.GetAnnotations()[metadata.ApplyOrderAnnotation])
	})
	conflict := false
	var failed error
	for _, candidate := range candidates {
`},
		Edit{kroDeleteError, `			dcx.Mark.ResourcesUnderDeletion("deletion blocked: %v", err)
			failed = err
		}
		conflict = conflict || result.Conflict
`},
		Edit{"	if conflict {\n", "	if failed != nil {\n		return failed\n	}\n	if conflict {\n"},
		Edit{"	\"strconv\"\n", "	\"slices\"\n	\"strconv\"\n	\"strings\"\n"}),
	inKro("last-status-error-logged", kroInstance, "the error of the last status write is logged and forgotten",
		Edit{`	// 8. Persist status/conditions
	//--------------------------------------------------------------
	return c.updateStatus(rcx)
`, `	// 8. Persist status/conditions
	//--------------------------------------------------------------
	if err := c.updateStatus(rcx); err != nil {
		log.Error(err, "failed to update status")
	}
	return nil
`}),
	inKro("prune-after-a-failed-apply", kroResources, "what could not be applied counts as no longer wanted",
		Edit{"	if r.unresolvedErr != nil || r.applyResult.Errors() != nil {\n",
			"	if r.unresolvedErr != nil {\n"}),
	inKro("revisions-from-the-cache", kroDefinition, "the revisions that exist are read from the cache",
		Edit{`	if err := r.apiReader.List(ctx, revisionList, client.MatchingFields{
		"spec.snapshot.name": rgd.Name,
	}); err != nil {
`, `	if err := r.List(ctx, revisionList, client.MatchingLabels{
		metadata.ResourceGraphDefinitionNameLabel: rgd.Name,
	}); err != nil {
`}),
	inKro("old-instances-not-told", kroDynamic, "a new revision begins no reconcile of the instances that exist",
		Edit{"exists {\n		dc.enqueueExistingInstances(parent)\n", "exists {\n"}),
	inKro("errors-not-retried", kroDynamic, "after an error an instance waits for its next event",
		Edit{"			dc.queue.AddRateLimited(item)\n", "			dc.queue.Forget(item)\n"}),
}
