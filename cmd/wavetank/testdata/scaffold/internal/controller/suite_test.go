package controller

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

var testEnv *envtest.Environment

func TestControllers(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Controller Suite")
}

var _ = BeforeSuite(func() {
	logf.SetLogger(GinkgoLogr)
	testEnv = &envtest.Environment{BinaryAssetsDirectory: "no-such-directory"}
	_, err := testEnv.Start()
	Expect(err).NotTo(HaveOccurred())
})

var _ = Describe("Greeter Controller", func() {
	It("should successfully reconcile the resource", func() {})
})
