package clusterextension

import (
	"testing"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	"github.com/wavetank/wavetank/scenarios/internal/demo"
)

// TestDemo shows each variant; see make demo.
func TestDemo(t *testing.T) { demo.Show(t, Table(), clusterextension.V2) }
