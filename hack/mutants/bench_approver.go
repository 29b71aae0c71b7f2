package mutants

const approverModule = "github.com/cert-manager/approver-policy"

// inApprover is a mutant of approver-policy.
func inApprover(name, file, mistake string, edits ...Edit) Bench {
	return Bench{name, Mutant{Operator: "approverpolicy", Package: ".", Module: approverModule, File: file,
		Mistake: mistake, Edits: edits}}
}

// Files of approver-policy that bugs change.
const (
	approverRequests  = "pkg/internal/controllers/certificaterequests.go"
	approverPolicies  = "pkg/internal/controllers/certificaterequestpolicies.go"
	approverReview    = "pkg/internal/approver/manager/review.go"
	approverPredicate = "pkg/internal/approver/manager/predicate/predicate.go"

	accessError = `			if err := client.Create(ctx, rev); err != nil {
				return nil, fmt.Errorf("failed to create subjectaccessreview: %w", err)
			}
`
	policyEvents = "		Watches(&policyapi.CertificateRequestPolicy{}, " +
		"handler.EnqueueRequestsFromMapFunc(enqueueRequestFromMapFunc), onlyNonInitialCreateEvents).\n"
)

var benchApprover = []Bench{
	inApprover("policy-status-error-logged", approverPolicies,
		"the error of a policy's status write is logged and forgotten",
		Edit{`			err = fmt.Errorf("failed to apply CertificateRequestPolicy.Status patch: %w", err)
			return ctrl.Result{}, utilerrors.NewAggregate([]error{resultErr, err})
`, "			c.log.Error(err, \"failed to apply CertificateRequestPolicy.Status patch\")\n"}),
	inApprover("review-error-told-only", approverRequests,
		"a review that fails is told in an event and not tried again",
		Edit{"failed to review the request and will retry\")\n		return ctrl.Result{}, nil, err\n",
			"failed to review the request\")\n		return ctrl.Result{}, nil, nil\n"}),
	inApprover("open-when-in-doubt", approverPredicate, "who cannot be checked is let through",
		Edit{accessError, `			if err := client.Create(ctx, rev); err != nil {
				rev.Status.Allowed = true
			}
`}),
	inApprover("refusal-remembered", approverPredicate, "whether a user may use a policy is asked once",
		Edit{accessError, `			key := fmt.Sprint(cr.Namespace, cr.Spec.Username, policy.Name)
			if allowed, ok := answers[key]; ok {
				rev.Status.Allowed = allowed
			} else if err := client.Create(ctx, rev); err != nil {
				return nil, fmt.Errorf("failed to create subjectaccessreview: %w", err)
			}
			answers[key] = rev.Status.Allowed
`},
		Edit{"func RBACBound(client client.Client) Predicate {\n",
			"func RBACBound(client client.Client) Predicate {\n	answers := map[string]bool{}\n"}),
	inApprover("denied-too-early", approverReview, "a request is denied although a policy is not ready yet",
		Edit{"	if hasUnreconciled {\n", "	if hasUnreconciled && len(policyMessages) == 0 {\n"}),
	inApprover("only-becoming-ready", approverRequests, "a policy begins reviews only when it is seen to become ready",
		Edit{policyEvents, `		Watches(&policyapi.CertificateRequestPolicy{},
			handler.EnqueueRequestsFromMapFunc(enqueueRequestFromMapFunc),
			builder.WithPredicates(predicate.Funcs{
				CreateFunc: func(event.CreateEvent) bool { return false },
				UpdateFunc: func(e event.UpdateEvent) bool {
					is := func(o client.Object) bool {
						return meta.IsStatusConditionTrue(
							o.(*policyapi.CertificateRequestPolicy).Status.Conditions, policyapi.ConditionTypeReady)
					}
					return !is(e.ObjectOld) && is(e.ObjectNew)
				},
			})).
`}, Edit{"	metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n",
			"	\"k8s.io/apimachinery/pkg/api/meta\"\n	metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n"}),
	inApprover("bindings-unwatched", approverRequests, "a new role binding begins no review",
		Edit{"		WatchesMetadata(&rbacv1.RoleBinding{}, " +
			"handler.EnqueueRequestsFromMapFunc(enqueueRequestFromMapFunc), " +
			"onlyNonInitialCreateEvents).\n", ""}),
}
