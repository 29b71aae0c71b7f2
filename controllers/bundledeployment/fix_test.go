// This file tests when an attempt is due, and what records of other makers say.

package bundledeployment

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	helmtime "helm.sh/helm/v3/pkg/time"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/wavetank/wavetank/controllers/bundledeployment/v1alpha1"
	"github.com/wavetank/wavetank/controllers/internal/release"
)

func TestDelaysDoubleUpToTheLongest(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for failures, want := range map[string]time.Duration{
		"1": 5 * time.Millisecond, "2": 10 * time.Millisecond, "12": 10240 * time.Millisecond,
		"18": 655360 * time.Millisecond, "19": 1000 * time.Second, "500": 1000 * time.Second,
		"": 5 * time.Millisecond, "many": 5 * time.Millisecond,
	} {
		failed := &helmrelease.Release{Labels: map[string]string{FailuresLabel: failures},
			Info: &helmrelease.Info{LastDeployed: helmtime.Time{Time: at}}}
		if got := due(failed).Sub(at); got != want {
			t.Errorf("after %q failures the next attempt is due in %v, not %v", failures, got, want)
		}
	}
}

func TestOnlyWhatWasNeverWholeIsRemoved(t *testing.T) {
	for status, want := range map[helmrelease.Status]bool{
		helmrelease.StatusFailed: false, helmrelease.StatusPendingInstall: false, helmrelease.StatusDeployed: true,
		helmrelease.StatusSuperseded: true,
	} {
		r := &helmrelease.Release{Info: &helmrelease.Info{Status: status}}
		if !wasDeployed(r) {
			t.Errorf("what an earlier operator recorded as %s would be removed", status)
		}
		r.Labels = map[string]string{WholeLabel: "false"}
		if got := wasDeployed(r); got != want {
			t.Errorf("a release whose only record is %s was deployed: %t", status, got)
		}
		r.Labels = map[string]string{WholeLabel: "true"}
		if !wasDeployed(r) {
			t.Errorf("its label says that it was deployed once; as %s it counts as not", status)
		}
	}
}

// A pass that has taken longer than it may write leaves the status to the next one, because another
// process may have continued meanwhile.
func TestNoStatusIsWrittenAfterTheTimeIsOver(t *testing.T) {
	for takes, want := range map[time.Duration]int{0: 1, release.Slice: 0} {
		synctest.Test(t, func(t *testing.T) {
			bd := &v1alpha1.BundleDeployment{ObjectMeta: metav1.ObjectMeta{Name: "app"},
				Spec: v1alpha1.BundleDeploymentSpec{ProvisionerClassName: ProvisionerID,
					Template: &v1alpha1.BundleTemplate{}}}
			scheme, writes := runtime.NewScheme(), 0
			if err := v1alpha1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(bd).WithStatusSubresource(bd).
				WithInterceptorFuncs(interceptor.Funcs{
					List: func(ctx context.Context, c client.WithWatch, l client.ObjectList,
						o ...client.ListOption) error {
						time.Sleep(takes)
						return c.List(ctx, l, o...)
					},
					SubResourceUpdate: func(context.Context, client.Client, string, client.Object,
						...client.SubResourceUpdateOption) error {
						writes++
						return nil
					}}).Build()
			r := &Reconciler{Client: c, reads: c, policy: policies()[V4]}
			again, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(bd)})
			if err != nil || writes != want || (want == 0) != (again.RequeueAfter == time.Duration(release.AtOnce)) {
				t.Errorf("after %v the status was written %d times, not %d: %+v, %v", takes, writes, want, again, err)
			}
		})
	}
}
