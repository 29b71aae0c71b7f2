# Compiles a real control plane (etcd, kube-apiserver, kubectl, with CONTROLLERS=1 kube-controller-manager) from the Go module proxy, so that the API model can be
# held against the real server without downloading anybody's binaries. Included by the root Makefile.
#
# -l and -dwarf=false take about a third off the compile, which is what most machines will notice; the binaries are
# stamped by the lock files and by this recipe, so they are compiled once per Kubernetes release.

ENVTEST_ROOT  := $(patsubst %/hack/envtest/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
ENVTEST_DIR   := $(ENVTEST_ROOT)/bin/envtest
ENVTEST_NICE  ?= nice -n 10
ENVTEST_K8S    = $(shell cd $(ENVTEST_ROOT)/hack/envtest && GOWORK=off go list -m -f '{{.Version}}' k8s.io/kubernetes)
ENVTEST_VPKG  := k8s.io/component-base/version
ENVTEST_VMM    = $(subst ., ,$(patsubst v%,%,$(ENVTEST_K8S)))
# Without a version stamp the server calls itself v0.0.0-master and kubectl refuses to parse that.
ENVTEST_LDFLAGS = -s -w -X $(ENVTEST_VPKG).gitVersion=$(ENVTEST_K8S) \
	-X $(ENVTEST_VPKG).gitMajor=$(word 1,$(ENVTEST_VMM)) -X $(ENVTEST_VPKG).gitMinor=$(word 2,$(ENVTEST_VMM)) \
	-X $(ENVTEST_VPKG).gitTreeState=clean

ENVTEST_TOOLS = go.etcd.io/etcd/server/v3 k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kubectl

.PHONY: envtest-assets
envtest-assets: $(ENVTEST_DIR)/.stamp $(if $(CONTROLLERS),$(ENVTEST_DIR)/kube-controller-manager) # Compile etcd, kube-apiserver and kubectl into bin/envtest (minutes, once), and with CONTROLLERS=1 kube-controller-manager.

ENVTEST_BUILD = cd $(ENVTEST_ROOT)/hack/envtest && CGO_ENABLED=0 GOFLAGS= GOWORK=off $(ENVTEST_NICE) \
	go build -buildvcs=false -trimpath '-gcflags=all=-l -dwarf=false' -ldflags '$(ENVTEST_LDFLAGS)' -o $(ENVTEST_DIR)/
ENVTEST_FILES = $(addprefix $(ENVTEST_ROOT)/hack/envtest/,go.mod go.sum envtest.mk)

$(ENVTEST_DIR)/kube-controller-manager: $(ENVTEST_FILES)
	@mkdir -p $(ENVTEST_DIR)
	$(ENVTEST_BUILD) k8s.io/kubernetes/cmd/kube-controller-manager
	@touch $@

$(ENVTEST_DIR)/.stamp: $(ENVTEST_FILES)
	@echo "compiling etcd, kube-apiserver and kubectl $(ENVTEST_K8S): five to ten minutes of CPU, this once"
	@mkdir -p $(ENVTEST_DIR)
	$(ENVTEST_BUILD) $(ENVTEST_TOOLS) \
		|| { echo "The control plane did not compile. It needs the Go module proxy (go env GOPROXY) and about 2 GB of memory;" \
		"or set KUBEBUILDER_ASSETS to a folder that has etcd and kube-apiserver $(ENVTEST_K8S)."; exit 1; }
	@mv $(ENVTEST_DIR)/server $(ENVTEST_DIR)/etcd
	@touch $@
