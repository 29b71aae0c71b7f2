package sim

import (
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/sim/internal/world"
)

// ProcessOption changes how a process is started.
type ProcessOption func(*world.ProcessOptions)

func processOptions(opts []ProcessOption) (o world.ProcessOptions) {
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// Options gives a process the ctrl.Options of the operator's own main. The harness overrides these:
//
//   - the metrics, health and pprof addresses;
//   - the REST mapper, unless MapperProvider is set;
//   - the check that controller names are unique;
//   - the order of cached lists;
//   - the identity of the leader election lock;
//   - a RenewDeadline that is a multiple of the RetryPeriod: it is cut by 7 ms, so that the two
//     never fall on one instant.
//
// LeaderElectionConfig and Cache.NewInformer are refused.
func Options(o ctrl.Options) ProcessOption {
	return func(p *world.ProcessOptions) { p.Manager = o }
}

// As runs a process as a ServiceAccount, written "namespace/name", with the rights that Roles,
// ClusterRoles and bindings give that account at the moment of each request; see
// [github.com/wavetank/wavetank/models/rbac]. Without it a process is a cluster administrator (a
// member of the group system:masters), as it is in envtest.
//
// Each incarnation has a token for the account of that name that exists when the incarnation
// begins. While the account does not exist, or if it was deleted and created again, requests are
// answered with 401, as in production. A controller that fills ClusterRoles with an aggregationRule
// comes with the first process that runs as an account.
func As(account string) ProcessOption {
	return func(p *world.ProcessOptions) { p.As = &account }
}

// AsDeployed runs a process as the ServiceAccount that its Deployment names, with the rights that
// ship. The paths are files or directories of manifests, seen from the test's package: a
// kustomization such as config/default, whose namePrefix and namespace are respected, a Helm chart
// with plain templates, the manifests of an OLM bundle, or any YAML. If there is no Deployment, the
// account is the one that the bindings name; if there are several accounts, [As] names one.
//
// Before the process starts, the namespaces, ServiceAccounts, roles and bindings of the manifests
// are created; everything else in them is ignored. From then on a request that no rule allows
// violates the default property "no missing permission", which names the rule to add. A campaign
// lists the rights that no run has used.
func AsDeployed(paths ...string) ProcessOption {
	return func(p *world.ProcessOptions) { p.Deployed = append(p.Deployed, paths...) }
}

// Serves says which Services, written "namespace/name", lead to a process, for worlds in which two
// processes serve webhooks at the same path. Any Service leads to a process without this option.
func Serves(services ...string) ProcessOption {
	return func(p *world.ProcessOptions) { p.Services = append(p.Services, services...) }
}

// IgnoreGoroutines lets goroutines live on that these functions have begun. Without it a run fails
// if it leaves them behind each time it is made, and the campaign warns of one that only one run
// leaves behind. Some libraries begin one in a constructor and cannot end it, because the process
// always ends before it matters. A function is named by its package and name, as the failure does,
// for example github.com/hashicorp/golang-lru/v2/expirable.NewLRU. What such a goroutine holds is
// held until the test binary ends.
func IgnoreGoroutines(begunBy ...string) ProcessOption {
	return func(p *world.ProcessOptions) { p.IgnoredGoroutines = append(p.IgnoredGoroutines, begunBy...) }
}

// Vary lets the choices of each run set what the process's ctrl.Options leave open: the type of the
// work queue, one to four workers, a resync period of ten minutes instead of ten hours, a client
// that reads its own writes, warm-up, and [ListThenWatch]. Options that a controller sets itself,
// for example with WithOptions, stay.
func Vary() ProcessOption { return func(p *world.ProcessOptions) { p.Vary = true } }

// ListThenWatch makes the process's informers list at resourceVersion=0 and then watch. client-go
// did so by default before 0.35, and does so with KUBE_FEATURE_WatchListClient=false. Without this
// option they open a watch that begins with a consistent list.
func ListThenWatch() ProcessOption { return func(p *world.ProcessOptions) { p.ListThenWatch = true } }
