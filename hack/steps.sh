#!/bin/sh
# Runs make targets one after another and prints how long each took, as rows of a Markdown table:
#
#   hack/steps.sh reports/out/nightly/1a2b3c4 test 'fuzz FOR=10m' soak
#
# A step that passes leaves a stamp in the directory and is not run again, so an interrupted list continues where it
# was. A step that fails does not stop the others; it is run again the next time. Each step has a log next to its stamp.
set -u

dir=$1
shift
mkdir -p "$dir"

name() { printf '%s' "$1" | tr -c 'A-Za-z0-9=.-' '_'; }
load() { cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || uptime | sed 's/.*: //; s/,.*//'; }

for step in "$@"; do
	file=$dir/$(name "$step")
	if [ -e "$file.passed" ]; then
		continue
	fi
	echo "make $step: the log is $file.log"
	before=$(load)
	began=$(date +%s)
	result=passed
	(
		# shellcheck disable=SC2086 # a step is a target and its variables
		make --no-print-directory $step >"$file.log" 2>&1
		status=$?
		times >"$file.times"
		exit $status
	) || result=failed
	# The second line of times has the user and the system time of children, as 1m2.3s.
	cpu=$(awk 'NR == 2 { gsub(/s/, ""); split($1, u, "m"); split($2, k, "m"); print u[1] * 60 + u[2] + k[1] * 60 + k[2] }' \
		"$file.times")
	rm -f "$file.failed"
	awk -v step="$step" -v real="$(($(date +%s) - began))" -v cpu="$cpu" -v load="$before" -v result="$result" \
		'BEGIN { printf "| `make %s` | %.1f | %.1f | %s | %s |\n", step, real / 60, cpu / 60, load, result }' >"$file.$result"
done

status=0
{
	echo '| step | minutes | CPU minutes | load before | result |'
	echo '| --- | ---: | ---: | ---: | --- |'
	for step in "$@"; do
		cat "$dir/$(name "$step")".passed "$dir/$(name "$step")".failed 2>/dev/null
	done
} | tee "$dir/summary.md"
for step in "$@"; do
	[ -e "$dir/$(name "$step").passed" ] || status=1
done
exit $status
