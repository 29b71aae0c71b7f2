// This file exists to show the story to a reader who has five minutes: see make demo.

package reposync

import (
	"testing"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/scenarios/internal/demo"
)

func TestDemo(t *testing.T) {
	table := Table()
	demo.Show(t, "reposync",
		demo.Of(table, "namespace finishes", reposync.V0, "the namespace is deleted", 100),
		demo.Of(table, "namespace finishes, its news trail", reposync.V2, "news of the namespace trail", 1000),
		demo.Of(table, "order among all, namespace deleted", reposync.V5, "objects depend on each other", 100),
		demo.Of(table, "RepoSync goes, reconciler dead", reposync.V6g, "the reconciler's node is down", 100),
		demo.Of(table, "namespace finishes", reposync.V10, "the namespace is deleted", 1000),
		demo.Of(table, "every fault", reposync.V10, "every fault may strike", 200),
	)
}
