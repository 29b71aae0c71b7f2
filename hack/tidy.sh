#!/bin/sh
# Tidies the modules of the workspace, and with -diff only says what tidying would change. go mod tidy knows no workspaces, so
# each module is tidied with the other ones replaced by their directories. No go.mod that is committed has such a line.
set -eu
cd "$(dirname "$0")/.."
check=
if [ "${1:-}" = -diff ]; then check=1; fi
modules=$(sed -n 's/^	\(\..*\)$/\1/p' go.work | grep -v '^\./hack/pairs/')
changed=0
for m in $modules; do
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	cp "$m/go.mod" "$work/go.mod"
	cp "$m/go.sum" "$work/go.sum" 2>/dev/null || :
	self=$(GOWORK=off go -C "$m" list -m)
	for other in $modules; do
		path=$(GOWORK=off go -C "$other" list -m)
		test "$path" = "$self" || go mod edit -replace "$path=$PWD/$other" "$work/go.mod"
	done
	GOWORK=off go -C "$m" mod tidy -modfile="$work/go.mod"
	for other in $modules; do
		go mod edit -dropreplace "$(GOWORK=off go -C "$other" list -m)" "$work/go.mod"
	done
	for f in go.mod go.sum; do
		touch "$m/$f" "$work/$f"
		if cmp -s "$work/$f" "$m/$f"; then continue; fi
		changed=1
		if [ -n "$check" ]; then diff -u "$m/$f" "$work/$f" | head -40 || :; else cp "$work/$f" "$m/$f"; fi
	done
	rm -rf "$work"
done
if [ -n "$check" ] && [ $changed = 1 ]; then
	echo "a go.mod is not tidy; run make tidy FIX=1" >&2
	exit 1
fi
