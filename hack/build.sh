#!/bin/sh
# sh hack/build.sh DIR PACKAGE... compiles the tests of packages into DIR, and prints how far it is.
set -e
dir=$1
shift
mkdir -p "$dir"
total=$(go list -e -test -deps -f '{{if .Stale}}{{.ImportPath}}{{end}}' "$@" | grep -c . || true)
if [ "$total" -lt 100 ]; then
	exec go test -c -o "$dir/" "$@"
fi
echo "$total packages are to be compiled. Go's build cache keeps them, so later builds take seconds."
began=$(date +%s)
failed=$(mktemp)
{ go test -c -x -o "$dir/" "$@" 2>&1 >/dev/null || echo failed >"$failed"; } | {
	done=0
	while read -r line; do
		case $line in
		*/compile\ -o*-p\ *)
			done=$((done + 1))
			[ $((done % 100)) -ne 0 ] || echo "$done of $total packages compiled, $(($(date +%s) - began)) s"
			;;
		esac
	done
	echo "compiled and linked after $(($(date +%s) - began)) s"
}
# Once more for the errors, without the commands.
if [ -s "$failed" ]; then
	rm -f "$failed"
	exec go test -c -o "$dir/" "$@"
fi
rm -f "$failed"
