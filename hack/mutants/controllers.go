// This file lists one-line mistakes in the fixed variants of the reference scenarios. `make
// mutants-controllers` plants them and tells which of them the runs of every change find.

package mutants

import "slices"

// InControllers are mistakes in the fixed variants of controllers/. Seen states what finds each: a
// cell of the table, replays of stories, a test, or nothing.
var InControllers = slices.Concat(inThrottle, inPromotion, inReposync, inBundleDeployment, inClusterExtension)

// inController is a mistake in a file of controllers/.
func inController(controller, file, mistake, before, after string) Mutant {
	return Mutant{Operator: controller, File: controller + "/" + file, Mistake: mistake, Edits: []Edit{{before, after}}}
}

var inThrottle = []Mutant{
	inController("throttle", "operator.go", "a watcher's error is swallowed",
		`{ k.die(fmt.Errorf("watching: %w", err)) }`, `{ _ = fmt.Errorf("watching: %w", err) }`),
	inController("throttle", "answers.go", "a failed read ends the retries",
		"			case err != nil:\n				d = o.fail()", "			case err != nil:\n				cancel()"),
	inController("throttle", "answers.go", "a restart forgets the delay",
		"	if c == nil || c.Status != metav1.ConditionFalse {\n		return 0",
		"	if c == nil || c.Status != metav1.ConditionFalse || true {\n		return 0"),
	inController("throttle", "process.go", "an outcome is not tied to the UID of its object",
		`same := map[string]any{"uid": string(body.GetUID())}`, `same := map[string]any{}`),
	inController("throttle", "operator.go", "an object that is gone is read when its time has come",
		"		o.cancel()\n		o.take()", "		o.take()"),
	inController("throttle", "answers.go", "the delay does not grow", "delays[min(failures, len(delays)-1)]",
		"delays[min(failures, 0)]"),
	inController("throttle", "process.go", "an attempt of which nothing is heard is repeated at once",
		"r.Delayed = later(delay(r.Attempts))", "r.Delayed = later(0)"),
	inController("throttle", "process.go", "the token is the same for every change",
		`fmt.Sprintf("%s/%s/%d", body.GetUID(), h.ID, body.GetGeneration())`,
		`fmt.Sprintf("%s/%s", body.GetUID(), h.ID)`),
	inController("throttle", "process.go", "an outcome that could not be written down is forgotten",
		"o.kept[h.ID])\n	if err == nil {", "o.kept[h.ID])\n	if true {"),
	inController("throttle", "process.go", "finalizers of others are removed",
		"slices.DeleteFunc(finalizers, func(f string) bool { return f == Finalizer })", "[]string{}"),
	inController("throttle", "answers.go", "a conflict is never a failure",
		"apierrors.IsConflict(err) && o.conflicts < races:", "apierrors.IsConflict(err):"),
}

var inPromotion = []Mutant{
	inController("promotion", "reconciler.go", "the status forgets promotions",
		"now.WaitingApproval, now.Promotion = before.WaitingApproval, before.Promotion",
		"now.WaitingApproval = before.WaitingApproval"),
	inController("promotion", "fix.go", "the status says succeeded before it is",
		"Succeeded: p.r.policy.succeeded(guard.Status.Phase)", "Succeeded: true"),
	inController("promotion", "reconciler.go", "the pass that acts reads the cache",
		"p.reader, p.targets.Live, p.targets.Typed, p.targets.Untyped = r.live, true, r.live, r.live",
		"p.targets.Live, p.targets.Typed, p.targets.Untyped = true, r.live, r.live"),
	inController("promotion", "fix.go", "an order ignores its back-off", "if wait := untilNextAttempt(guard); wait > 0 {",
		"if wait := untilNextAttempt(guard); wait > time.Hour {"),
	inController("promotion", "fix.go", "the forge is not asked what became of an attempt",
		"	if guard.Status.Attempts > 0 {\n		// An attempt", "	if guard.Status.Attempts > 1<<30 {\n		// An attempt"),
	inController("promotion", "fix.go", "episodes are not counted", "Number: before.Number + 1, Revision", "Number: 1, Revision"),
	inController("promotion", "reconciler.go", "the status is written without an optimistic lock",
		"client.MergeFromWithOptions(p.written, client.MergeFromWithOptimisticLock{})", "client.MergeFrom(p.written)"),
	inController("promotion", "fix.go", "an order has no key", "o.IdempotencyKey = guard.Name", `o.IdempotencyKey = ""`),
	inController("promotion", "fix.go", "a newer revision takes over the branch of an older one",
		"o.Branch = guard.Name", "_ = guard.Name"),
	inController("promotion", "fix.go", "the back-off does not grow", "i < attempts && wait < lastRetry", "i < 1 && wait < lastRetry"),
	inController("promotion", "fix.go", "an attempt that was refused after others may go elsewhere",
		"if first && orders.Refused(failure) {", "if (first || true) && orders.Refused(failure) {"),
	inController("promotion", "withdraw.go", "an order that is on its way counts as lost",
		"return max(0, time.Until(guard.Status.LastAttemptedTime.Add(lateOrder)))",
		"return min(0, time.Until(guard.Status.LastAttemptedTime.Add(lateOrder)))"),
	inController("promotion", "orders/orders.go", "an Event that exists is an error",
		`o.IdempotencyKey != "" && apierrors.IsAlreadyExists(err)`,
		`o.IdempotencyKey == "" && apierrors.IsAlreadyExists(err)`),
}

var inReposync = []Mutant{
	inController("reposync", "teardown.go", "the manager releases without deleting", "	if !foreground(sync) {\n",
		"	if !foreground(sync) || true {\n"),
	inController("reposync", "reconciler.go", "the reconciler reads from the cache", "reader := r.live",
		"reader := client.Reader(r.client)"),
	inController("reposync", "teardown.go", "the account outlives the last resort",
		`	if err := m.client.Delete(ctx, &corev1.ServiceAccount{ObjectMeta: in(key, "")}); client.IgnoreNotFound(err)`,
		`	if err := error(nil); client.IgnoreNotFound(err)`),
	inController("reposync", "inventory.go", "nothing waits for its dependents",
		"if m.GetDeletionTimestamp() != nil || len(dependents(left, m.object)) > 0 {", "if m.GetDeletionTimestamp() != nil {"),
	inController("reposync", "reconciler.go", "what is managed is not written down before",
		"r.record(ctx, declared)", "r.record(ctx, nil)"),
	inController("reposync", "reconciler.go", "objects are created in a namespace that is being deleted",
		"terminating(ctx, r.live, r.Sync.Namespace); err != nil || going {",
		"terminating(ctx, r.live, r.Sync.Namespace); err != nil && going {"),
	inController("reposync", "teardown.go", "the reconciler's Deployment counts as gone at once",
		"return apierrors.IsNotFound(err), client.IgnoreNotFound(err)",
		"return err == nil || apierrors.IsNotFound(err), client.IgnoreNotFound(err)"),
	inController("reposync", "teardown.go", "a binding goes although it serves another",
		"if len(*b.subjects) > 0 {", "if len(*b.subjects) > 100 {"),
	inController("reposync", "teardown.go", "what was made for a RepoSync is left",
		"if wait, err := m.dismantle(ctx, sync); err != nil || wait > 0 {",
		"if wait, err := time.Duration(0), error(nil); err != nil || wait > 0 {"),
	inController("reposync", "inventory.go", "the last managed object is left", "if len(left) == 0 {", "if len(left) <= 1 {"),
	inController("reposync", "teardown.go", "the last resort comes at once", "left > 0 {", "left > time.Hour {"),
	inController("reposync", "manager.go", "a RepoSync gets no finalizer",
		"if controllerutil.AddFinalizer(sync, v1beta1.ReconcilerManagerFinalizer) {",
		"if false && controllerutil.AddFinalizer(sync, v1beta1.ReconcilerManagerFinalizer) {"),
}

var inBundleDeployment = []Mutant{
	inController("bundledeployment", "fix.go", "an attempt does not wait for remains", "	if left {\n", "	if left && false {\n"),
	inController("bundledeployment", "fix.go", "a clean-up takes what others own",
		"slices.ContainsFunc(o.GetOwnerReferences(), owner)\n", "(true || slices.ContainsFunc(o.GetOwnerReferences(), owner))\n"),
	inController("bundledeployment", "controller.go", "the deployment is read from the cache",
		"r.reads, r.identity = mgr.GetAPIReader(), string(uuid.NewUUID())", "r.identity = string(uuid.NewUUID())"),
	inController("bundledeployment", "fix.go", "failures are not counted", "failures += failuresOf(last)", "_ = failuresOf(last)"),
	inController("bundledeployment", "controller.go", "the status is written after the time is over",
		"if r.policy.fixed && release.Over(until) {", "if r.policy.fixed && false {"),
	inController("bundledeployment", "fix.go", "a record is closed without holding it",
		"	if err := p.hold(last)(); err != nil {\n		return err\n	}\n	last.SetStatus", "	last.SetStatus"),
	inController("bundledeployment", "fix.go", "objects of failed upgrades are left", "if err := p.client.Prune(deployed); err != nil {",
		"if err := error(nil); err != nil {"),
	inController("bundledeployment", "fix.go", "the back-off does not grow", "delay *= 2", "delay *= 1"),
	inController("bundledeployment", "controller.go", "another provisioner's deployment is reconciled",
		"if !read.DeletionTimestamp.IsZero() || r.policy.fixed && read.Spec.ProvisionerClassName != ProvisionerID {",
		"if !read.DeletionTimestamp.IsZero() {"),
}

var inClusterExtension = []Mutant{
	inController("clusterextension", "fix.go", "version 3 does not wait for a healthy version 2",
		"if err == nil && &indices[i] == p.newest && !overridden {", "if err == nil && false {"),
	inController("clusterextension", "controller.go", "events of its own status wake it",
		"r.reads, events = mgr.GetAPIReader(), append(events, notOnlyStatus())", "r.reads = mgr.GetAPIReader()"),
	inController("clusterextension", "fix.go", "an interruption is not written down before resuming",
		"		_ = p.retrying(bundle, p.history(held, nil))\n		return p.writeStatus(ctx)",
		"		_ = p.retrying(bundle, p.history(held, nil))\n		return nil"),
	inController("clusterextension", "fix.go", "a version that failed is not finished first",
		"status == helmrelease.StatusFailed && overridden {", "status == helmrelease.StatusFailed {"),
	inController("clusterextension", "fix.go", "a record is resumed without holding it",
		"	if err := p.hold(ctx); err != nil {\n		return err\n	}\n	begun, err", "	begun, err"),
	inController("clusterextension", "fix.go", "interruptions are not counted", "		n++\n", "		n += 0\n"),
	inController("clusterextension", "fix.go", "objects that were dropped are left",
		"if err := p.client.Prune(deployed); err != nil {", "if err := error(nil); err != nil {"),
	inController("clusterextension", "pass.go", "a version is installed before it is healthy",
		"if err := p.awaitHealth(ctx, made); err != nil {", "if err := error(nil); err != nil {"),
}
