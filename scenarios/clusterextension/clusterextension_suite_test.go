// This file is the suite: the table, with an entry for each variant and case.

package clusterextension

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/scenarios/internal/suite"
	"github.com/wavetank/wavetank/sim/simginkgo"
)

func TestClusterExtension(t *testing.T) {
	RegisterFailHandler(Fail)
	simginkgo.Use(t)
	RunSpecs(t, "ClusterExtension", suite.Config())
}

var _ = DescribeTable("A ClusterExtension", suite.Check(Table()), suite.Entries(Table()))

// TestMatrix checks the page, and writes the results.
func TestMatrix(t *testing.T) { matrix.Test(t, Table()) }
