package campaign

import (
	"fmt"
	"os"
)

// shardFromEnvironment reads the variables that engines set: a Kubernetes Indexed Job tells each
// pod its index (the number of completions must be given as SIM_SHARDS), Bazel and others tell
// both.
func shardFromEnvironment() string {
	engines := [][2]string{{"JOB_COMPLETION_INDEX", "SIM_SHARDS"}, {"TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS"}}
	for _, names := range engines {
		i, n := os.Getenv(names[0]), os.Getenv(names[1])
		if i != "" && n != "" {
			if names[0] == "TEST_SHARD_INDEX" && byTest {
				continue
			}
			if status := os.Getenv("TEST_SHARD_STATUS_FILE"); status != "" && names[0] == "TEST_SHARD_INDEX" {
				if f, err := os.Create(status); err == nil { // tells Bazel that sharding is understood
					f.Close()
				}
			}
			return i + "/" + n
		}
	}
	return ""
}

// byTest says that the test binary was built by rules_go, whose main function
// (generate_test_main.go, testsInShard) shares the tests out among Bazel's shards: of a test that
// runs in one shard only, all runs are made there. It unsets the variable.
var byTest = os.Getenv("GO_TEST_RUN_FROM_BAZEL") != ""

// parseShard reads "i/n". Run i belongs to shard i mod n, and what run i is depends on i and on the
// base seed only, so the same runs are made however many shards there are.
func parseShard(s string) (i, n int, ok bool) {
	if s == "" {
		return 0, 1, true
	}
	var rest string
	if k, _ := fmt.Sscanf(s+" .", "%d/%d %s", &i, &n, &rest); k != 3 || rest != "." {
		return 0, 1, false
	}
	return i, n, n >= 1 && i >= 0 && i < n
}

func goodShard(s string) bool {
	_, _, ok := parseShard(s)
	return ok
}

// shards is the number of shards; 1 for an undivided campaign.
func (s Settings) shards() int {
	_, n, _ := parseShard(s.Shard)
	return n
}

// mine reports whether run i belongs to this shard.
func (s Settings) mine(i int) bool {
	k, n, _ := parseShard(s.Shard)
	return i%n == k
}
