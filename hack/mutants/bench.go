package mutants

import (
	"hash/fnv"
	"slices"
	"strings"
)

// Bench is a mutant that measures the search: TestPromises of its operator finds it, and only where
// a fault is injected or the schedule is not the default one.
type Bench struct {
	Name string
	Mutant
}

// Halves divides the mutants into those that strategies may be tuned with and those that reports
// show. The choice is mechanical: the names are sorted by their FNV-1a hash and taken by turns.
func Halves(mutants []Bench) (tuning, report []Bench) {
	sorted := slices.SortedFunc(slices.Values(mutants), func(a, b Bench) int {
		if x, y := sum(a.Name), sum(b.Name); x != y {
			if x < y {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	for i, m := range sorted {
		if i%2 == 0 {
			tuning = append(tuning, m)
		} else {
			report = append(report, m)
		}
	}
	return tuning, report
}

func sum(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}

// BenchMutants are thirty mistakes that released operators do not have. No strategy was made with
// them in mind.
var BenchMutants = slices.Concat(benchTrust, benchKro, benchApprover, benchBackup)

var benchBackup = []Bench{
	{"list-then-create", backup("a claim with a name that the server chooses is made unless the cache has one",
		Edit{claimName, `	var claims corev1.PersistentVolumeClaimList
	if err := r.List(ctx, &claims, client.InNamespace(b.Namespace)); err != nil {
		return ctrl.Result{}, err
	}
	for i := range claims.Items {
		if metav1.IsControlledBy(&claims.Items[i], &b) {
			b.Status.PVC = claims.Items[i].Name
			return ctrl.Result{}, r.Status().Update(ctx, &b)
		}
	}
	claim.Name, claim.GenerateName = "", b.Name+"-"
` + claimName})},
	{"create-or-overwrite", backup("a claim that exists is overwritten, whoever has changed it since",
		Edit{createClaim, `	err := r.Create(ctx, claim)
	if apierrors.IsAlreadyExists(err) {
		err = r.Update(ctx, claim)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
`}, Edit{imports, apiErrors + imports})},
	{"next-free-name", backup("where a claim exists already, another name is tried",
		Edit{createClaim, `	err := r.Create(ctx, claim)
	for i := 2; apierrors.IsAlreadyExists(err); i++ {
		claim.Name = fmt.Sprintf("%s-data-%d", b.Name, i)
		err = r.Create(ctx, claim)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
`}, Edit{imports, "	\"fmt\"\n" + apiErrors + imports})},
	{"claim-there-work-done", backup("a claim in the cache is taken as the sign that all is done",
		Edit{createClaim, `	var have corev1.PersistentVolumeClaim
	if err := r.Get(ctx, client.ObjectKeyFromObject(claim), &have); err == nil {
		return ctrl.Result{}, nil
	}
` + createClaim})},
	{"not-again-after-a-restart", backup("objects that the informer lists at its start count as done",
		Edit{"For(&v1.Backup{})", `For(&v1.Backup{}, builder.WithPredicates(predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return !e.IsInInitialList },
	}))`}, Edit{imports, imports + `	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
`})},
}
