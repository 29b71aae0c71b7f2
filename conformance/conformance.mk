# Holds the API model against a real kube-apiserver. Included by the root Makefile, after hack/envtest/envtest.mk.
#
# OPS is how many random operations the differential test runs beside the table, and half as many more with applies and
# among drawn types: 2000 in CI, 20000 before a release. SEED draws others than the usual ones.

OPS ?= 2000
SEED ?= 0

CONFORMANCE_ENV = KUBEBUILDER_ASSETS=$${KUBEBUILDER_ASSETS:-$(ENVTEST_DIR)} KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=60s
CONFORMANCE_RUN = cd $(ENVTEST_ROOT) && $(CONFORMANCE_ENV) go test -tags conformance -count=1 -timeout $(TIMEOUT) ./conformance

.PHONY: conformance
conformance: $(if $(KUBEBUILDER_ASSETS),,envtest-assets) ## Compare the API model with a real kube-apiserver.
	$(CONFORMANCE_RUN) -v -run 'TestConformance|TestDifferential|TestCampaignJob' -args -ginkgo.succinct -conformance.ops=$(OPS)
	cd $(ENVTEST_ROOT) && $(CONFORMANCE_ENV) go test -tags conformance -timeout $(TIMEOUT) -count=1 ./models/apiserver/serve ./sim/controlplane
	cd $(ENVTEST_ROOT)/cmd/wavetank && $(CONFORMANCE_ENV) go test -tags conformance -timeout $(TIMEOUT) -count=1 . -run '^TestInterruptedConfirmLeavesNothing$$'
	cd $(ENVTEST_ROOT)/fuzz && $(CONFORMANCE_ENV) go test -tags conformance -timeout $(TIMEOUT) -count=1 ./planted -run '^(TestConfirm|TestPackageVariablesAreLostWithTheProcess)$$'

.PHONY: confirm-planted
confirm-planted: $(if $(KUBEBUILDER_ASSETS),,envtest-assets) # Confirm the stories of all planted bugs at a real kube-apiserver (ten minutes), and write the rows of docs/confirmed.md.
	cd $(ENVTEST_ROOT)/fuzz && $(CONFORMANCE_ENV) go test -tags conformance -timeout 0 -count=1 -v ./planted -run '^TestPlantedBugsAreConfirmed$$' \
		-args -planted.table=$(ENVTEST_ROOT)/reports/out/confirmed.md
	cd $(ENVTEST_ROOT)/fuzz && $(CONFORMANCE_ENV) go test -tags conformance -timeout 0 -count=1 -v ./planted -run '^TestConfirmInProcesses$$'

.PHONY: scale-out
scale-out: $(if $(KUBEBUILDER_ASSETS),,envtest-assets) $(ENVTEST_DIR)/kube-controller-manager # Run docs/campaign-job.yaml on a real control plane with the Job controller (five minutes).
	$(CONFORMANCE_RUN) -v -run '^TestScaleOut$$'

# The releases of the older minor versions that the Go module proxy has.
RELEASE_0.36 = v1.36.3
RELEASE_0.35 = v1.35.4

.PHONY: conformance-0.35 conformance-0.36
conformance-0.35 conformance-0.36: conformance-%: bin/pairs/%/go.work # Compare the API model, built with older modules, with a real kube-apiserver of their minor version (ARGS=-update records what differs).
	sh hack/envtest/older.sh $(RELEASE_$*) bin/envtest-$*
	GOWORK=$(ENVTEST_ROOT)/$< KUBEBUILDER_ASSETS=$(ENVTEST_ROOT)/bin/envtest-$* KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=60s \
		go test -tags conformance -count=1 -timeout $(TIMEOUT) ./conformance -run TestConformance -args -ginkgo.succinct $(ARGS)

.PHONY: conformance-record
conformance-record: $(if $(KUBEBUILDER_ASSETS),,envtest-assets) # Record the real server's answers again (conformance/testdata/recorded) and rewrite FIDELITY.md.
	$(CONFORMANCE_RUN) -run 'TestConformance' -args -ginkgo.succinct -update
	cd $(ENVTEST_ROOT) && go test -timeout $(TIMEOUT) -count=1 ./conformance -run TestFidelityPage -args -update

.PHONY: bench-beside
bench-beside: $(if $(KUBEBUILDER_ASSETS),,envtest-assets) # Compare the model and the simulation with a real kube-apiserver, envtest and the fake client (minutes, quiet machines only): writes docs/speed.md.
	$(CONFORMANCE_RUN) -v -run '^TestBeside$$' -args -beside.write=$(ENVTEST_ROOT)/docs/speed.md
