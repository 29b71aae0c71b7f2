#!/bin/sh
# A campaign of RUNS runs in two processes, interrupted half way and continued: which memory its processes hold over time,
# and whether every run was made once. The results stay in DIR.
set -eu
runs=${1:-1000000} dir=${2:-reports/out/million}
mkdir -p bin "$dir"
rm -rf "$dir"/*
go build -o bin/wavetank ./cmd/wavetank

campaign() { exec bin/wavetank run ./fuzz/scale --run '^TestOne$' --runs "$runs" --procs 2 --report "$dir"; }

# The runs that the results have so far.
made() { cat "$dir"/*/*.json 2>/dev/null | sed -n 's/^  "runs": \([0-9]*\),$/\1/p' | awk '{ n += $1 } END { print n + 0 }'; }

# Prints a line a minute while a campaign runs. With a limit it ends the campaign there, as a user does with Ctrl-C.
watch() {
	n=0
	while kill -0 "$1" 2>/dev/null; do
		sleep 5
		n=$((n + 1))
		now=$(made)
		if [ $((n % 12)) = 1 ]; then
			rss=$(ps -eo rss,args | awk '/\.test .*TestOne/ && !/awk/ { printf "%s%d MB", sep, $1 / 1024; sep = ", " }')
			echo "$(date +%T) $now runs, resident memory $rss"
		fi
		if [ -n "${2:-}" ] && [ "$now" -ge "$2" ]; then
			kill -INT "$1"
			break
		fi
	done
}

campaign >"$dir/first.log" 2>&1 &
first=$!
watch $first $((runs / 2))
wait $first || true
echo "interrupted after $(made) runs"
campaign >"$dir/second.log" 2>&1 &
second=$!
watch $second
wait $second
echo "ended after $(made) runs"
test "$(made)" = "$runs"
