// Lifts a workspace to one pair of controller-runtime and Kubernetes: see hack/pairs/README.md.
module github.com/wavetank/wavetank/hack/pairs/0.36

go 1.26.0

require (
	helm.sh/helm/v3 v3.21.3
	k8s.io/api v0.36.6
	k8s.io/apiextensions-apiserver v0.36.6
	k8s.io/apimachinery v0.36.6
	k8s.io/apiserver v0.36.6
	k8s.io/cli-runtime v0.36.6
	k8s.io/client-go v0.36.6
	k8s.io/component-helpers v0.36.6
	k8s.io/kubectl v0.36.6
	sigs.k8s.io/controller-runtime v0.24.1
)
