#!/bin/sh
# sh hack/known-bugs.sh DIRECTORY RUNS runs the tests of public bugs in released operators. Each fails at the older version of
# its operator, and passes at the newer one. The directory gets the logs; docs/findings.md has the results.
set -e
mkdir -p "$1"
out=$(cd "$1" && pwd)
export GOWORK=off SIM_RUNS="$2" SIM_FOR=0

# run EXAMPLE TEST MODULES LOG runs a test with other versions of modules. The go.mod file of the example stays as it is.
run() {
	cp "examples/$1/go.mod" "$out/$1.mod"
	cp "examples/$1/go.sum" "$out/$1.sum"
	(
		cd "examples/$1" && export GOFLAGS="$GOFLAGS -modfile=$out/$1.mod -mod=mod" &&
			go get $(echo "$3" | tr , ' ') && go test -tags=known -count=1 -timeout 0 -run "^$2\$" -v .
	) >"$4" 2>&1
}

# found LOG EXAMPLE prints the run that failed, its CPU time, and the lines of the story.
found() {
	story=examples/$2/$(sed -n 's/^ *story: *//p' "$1" | head -n 1)
	awk '/^found: /{run = $4} /^took: /{took = $2} /^-- /{part = $2} part == "history" && !/^--/{lines++}
		END {print "run " run ", " took " of CPU time, " lines " lines"}' "$story"
	rm -f "$story"
}

failed=0
while read -r example test older newer; do
	log=$out/$test
	if run "$example" "$test" "$older" "$log.older.log" || ! grep -q '^ *story: ' "$log.older.log"; then
		echo "$test: does not fail at $older: $log.older.log"
		failed=1
	else
		echo "$test: fails at $older: $(found "$log.older.log" "$example")"
	fi
	if run "$example" "$test" "$newer" "$log.newer.log"; then
		echo "$test: passes at $newer: $2 runs"
	else
		echo "$test: does not pass at $newer: $log.newer.log"
		failed=1
	fi
done <<'PAIRS'
agentsandbox TestIssue1215 sigs.k8s.io/agent-sandbox@v0.5.3 sigs.k8s.io/agent-sandbox@v0.5.5
jobset TestIssue1193 sigs.k8s.io/jobset@v0.11.1 sigs.k8s.io/jobset@v0.12.0
kueue TestIssue13874 sigs.k8s.io/kueue@v0.19.0 sigs.k8s.io/kueue@v0.19.2
perses TestIssue376 github.com/perses/perses-operator@v0.3.2,github.com/perses/perses@v0.53.1 github.com/perses/perses-operator@v0.4.0,github.com/perses/perses@v0.53.1
PAIRS
exit $failed
