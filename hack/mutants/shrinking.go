package mutants

import "strings"

// Shrunk is a bug planted in examples/backup to measure how short its stories become.
type Shrunk struct {
	Mutant
	Minimum int // faults without which the bug does no harm
}

// backup is a mutant of the operator of examples/backup.
func backup(mistake string, edits ...Edit) Mutant {
	return Mutant{Operator: "backup", Package: backupTest, File: backupFile, Mistake: mistake, Edits: edits}
}

// Places of examples/backup that bugs change.
const (
	imports     = "	ctrl \"sigs.k8s.io/controller-runtime\"\n"
	lastWrite   = "	b.Status.PVC = claim.Name\n	return ctrl.Result{}, r.Status().Update(ctx, &b)\n"
	createClaim = `	if err := r.Create(ctx, claim); client.IgnoreAlreadyExists(err) != nil {
		return ctrl.Result{}, err
	}
`
	claimName = "	if r.Generated {\n"
	apiErrors = "	apierrors \"k8s.io/apimachinery/pkg/api/errors\"\n"
)

// ShrunkBugs are the ten bugs of docs/shrinking.md.
var ShrunkBugs = []Shrunk{
	{backup("the error of an effect is swallowed", Edit{createClaim, "	_ = r.Create(ctx, claim)\n"}), 1},
	{backup("the status says too early that the work is done", Edit{createClaim, `	b.Status.PVC = claim.Name
	if err := r.Status().Update(ctx, &b); err != nil {
		return ctrl.Result{}, err
	}
` + createClaim}), 1},
	{backup("a reconcile gives up without an error", Edit{createClaim,
		strings.Replace(createClaim, "return ctrl.Result{}, err", "return ctrl.Result{}, nil", 1)}), 1},
	{backup("a reconcile waits in place",
		Edit{lastWrite, "	time.Sleep(time.Minute)\n" + lastWrite}, Edit{imports, "	\"time\"\n" + imports}), 0},
	{backup("a name that only the status remembers",
		Edit{claimName, "	claim.Name, claim.GenerateName = \"\", b.Name+\"-\"\n" + claimName}), 1},
	{backup("a name made from what the cache says",
		Edit{claimName, "	claim.Name = fmt.Sprintf(\"%s-%d\", b.Name, b.Generation)\n" + claimName},
		Edit{imports, "	\"fmt\"\n" + imports}), 1},
	{backup("the owner is written after the child", Edit{createClaim, `	claim.OwnerReferences = nil
	if err := r.Create(ctx, claim); client.IgnoreAlreadyExists(err) != nil {
		return ctrl.Result{}, err
	} else if err == nil {
		if err := ctrl.SetControllerReference(&b, claim, r.Scheme()); err != nil {
			return ctrl.Result{}, err
		}
		if err := r.Update(ctx, claim); err != nil {
			return ctrl.Result{}, err
		}
	}
`}), 0}, // another controller writes the claim in between
	{backup("memory of what was done instead of a look",
		Edit{createClaim, `	if r.done[b.UID] {
		return ctrl.Result{}, nil
	}
` + createClaim + `	if r.done == nil {
		r.done = map[any]bool{}
	}
	r.done[b.UID] = true
`}, Edit{"	Generated bool\n", "	Generated bool\n	done map[any]bool\n"}), 1},
	{backup("what exists already is taken for somebody else's",
		Edit{createClaim, `	if err := r.Create(ctx, claim); apierrors.IsAlreadyExists(err) {
		return ctrl.Result{}, nil
	} else if err != nil {
		return ctrl.Result{}, err
	}
`}, Edit{imports, apiErrors + imports}), 1},
	{backup("an error of the last write is swallowed", // the claim begins another reconcile
		Edit{lastWrite, "	b.Status.PVC = claim.Name\n	_ = r.Status().Update(ctx, &b)\n" +
			"	return ctrl.Result{}, nil\n"}), 2},
}
