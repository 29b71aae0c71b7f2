// Package mutants plants common mistakes of operators in the operators of examples/ and says which
// properties see them. Its test does so, and docs/properties.md shows the table.
package mutants

// Mutant is a mistake in an operator of examples/.
type Mutant struct {
	Operator string // directory of examples/
	Package  string // of the test, below the operator's module
	Module   string // the module of the file, if that is not the operator's own
	File     string // below its module
	Edits    []Edit
	Quick    bool // tried by each go test, the others only with -mutants.all

	Mistake string // in words
	Seen    string // sets of TestEachProperty that see it, and in which run; empty for none
	Why     string // why these do, or why it does no harm
}

// Edit replaces a piece of the file, which must be there exactly once.
type Edit struct{ Old, New string }

const (
	backupTest = "./internal/controller"
	backupFile = "internal/controller/backup.go"
	trust      = "github.com/cert-manager/trust-manager"
	trustFile  = "pkg/bundle/bundle.go"
)

// Mutants are all of them.
var Mutants = []Mutant{
	{
		Operator: "backup", Package: backupTest, File: backupFile,
		Mistake: "a conflict is swallowed",
		Why: "Harmless: a conflict means that there is a newer version. Its watch event starts the reconcile " +
			"again. A predicate that drops the event would make it harmful.",
		Edits: []Edit{
			{"	return ctrl.Result{}, r.Status().Update(ctx, &b)\n",
				`	err := r.Status().Update(ctx, &b)
	if apierrors.IsConflict(err) {
		err = nil
	}
	return ctrl.Result{}, err
`},
			{"	\"k8s.io/apimachinery/pkg/api/resource\"\n",
				"	apierrors \"k8s.io/apimachinery/pkg/api/errors\"\n	\"k8s.io/apimachinery/pkg/api/resource\"\n"},
		},
	},
	{
		Operator: "backup", Package: backupTest, File: backupFile, Quick: true,
		Mistake: "the error of an effect is swallowed",
		Seen:    "CrashSafe (run 14), own Always (run 4)",
		Why:     "The status names a claim that does not exist, and no reconcile tries again.",
		Edits: []Edit{{`	if err := r.Create(ctx, claim); client.IgnoreAlreadyExists(err) != nil {
		return ctrl.Result{}, err
	}
`,
			"	_ = r.Create(ctx, claim)\n"}},
	},
	{
		Operator: "backup", Package: backupTest, File: backupFile,
		Mistake: "a reconcile waits in place",
		Seen:    "NoStarvation (run 1)",
		Why:     "The other backup waits for the only worker.",
		Edits: []Edit{
			{"	b.Status.PVC = claim.Name\n", "	time.Sleep(time.Minute)\n	b.Status.PVC = claim.Name\n"},
			{"	\"context\"\n", "	\"context\"\n	\"time\"\n"},
		},
	},
	{
		Operator: "backup", Package: backupTest, File: backupFile,
		Mistake: "the status says too early that the work is done (there is no observedGeneration)",
		Seen:    "CrashSafe (run 3), own Always (run 1)",
		Why:     "When the operator dies between the two requests, the claim is never created.",
		Edits: []Edit{{"	if err := r.Create(ctx, claim)",
			`	b.Status.PVC = claim.Name
	if err := r.Status().Update(ctx, &b); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.Create(ctx, claim)`}},
	},
	{
		Operator: "backup", Package: backupTest, File: backupFile,
		Mistake: "a reconcile gives up without an error",
		Seen:    "CrashSafe (run 3)",
		Why:     "No reconcile tries again, so the backup has no claim.",
		Edits: []Edit{{"client.IgnoreAlreadyExists(err) != nil {\n		return ctrl.Result{}, err\n",
			"client.IgnoreAlreadyExists(err) != nil {\n		return ctrl.Result{}, nil\n"}},
	},
	{
		Operator: "trustmanager", Package: ".", Module: trust, File: trustFile,
		Mistake: "a conflict is swallowed",
		Why:     "Harmless: the operator only applies, and with force. Such requests get no conflict.",
		Edits: []Edit{{"ssa_client.FieldManager, client.ForceOwnership); err != nil {",
			"ssa_client.FieldManager, client.ForceOwnership); err != nil && !apierrors.IsConflict(err) {"}},
	},
	{
		Operator: "trustmanager", Package: ".", Module: trust, File: "pkg/bundle/internal/target/target.go",
		Mistake: "the error of an effect is swallowed",
		Seen:    "CrashSafe (run 34), own Always (run 14)",
		Why:     "The status reports that the copy exists, and no reconcile tries again.",
		Edits: []Edit{{"	if _, err = r.patchConfigMap(ctx, patch); err != nil {\n",
			"	_, err = r.patchConfigMap(ctx, patch)\n	if err = nil; err != nil {\n"}},
	},
	{
		Operator: "trustmanager", Package: ".", Module: trust, File: trustFile,
		Mistake: "a reconcile waits in place",
		Seen:    "NoStarvation (run 1)",
		Why:     "One bundle waits for its source, and the other bundle waits for the only worker.",
		Edits: []Edit{
			{"			reason = \"SourceNotFound\"\n",
				"			reason = \"SourceNotFound\"\n			time.Sleep(time.Minute)\n"},
			{"	\"strings\"\n", "	\"strings\"\n	\"time\"\n"},
		},
	},
	{
		Operator: "trustmanager", Package: ".", Module: trust, File: trustFile,
		Mistake: "observedGeneration is set too early",
		Seen:    "own Always (run 1)",
		Why: "The copy is correct in the end, but a user who waits for the status continues too early. Only the " +
			"scenario knows what a status promises, so it needs an Always of its own.",
		Edits: []Edit{{"	resolvedBundle, err := b.bundleBuilder.BuildBundle(ctx, bundle.Spec.Sources)\n",
			`	early := statusPatch.DeepCopy()
	for _, c := range bundle.Status.Conditions {
		if c.Type == trustapi.BundleConditionSynced {
			c.ObservedGeneration = bundle.Generation
			early.Conditions = append(early.Conditions, c)
		}
	}
	if o, patch, err := ssa_client.GenerateBundleStatusPatch(req.Name, early); err == nil {
		_ = b.client.Status().Patch(ctx, o, patch, ssa_client.FieldManager, client.ForceOwnership)
	}
	resolvedBundle, err := b.bundleBuilder.BuildBundle(ctx, bundle.Spec.Sources)
`}},
	},
	{
		Operator: "trustmanager", Package: ".", Module: trust, File: trustFile,
		Mistake: "a reconcile gives up without an error",
		Seen:    "CrashSafe (run 34)",
		Why:     "No reconcile tries again until something else changes, and the copy keeps its old key.",
		Edits:   []Edit{{"			return statusPatch, err\n", "			return statusPatch, nil\n"}},
	},
}
