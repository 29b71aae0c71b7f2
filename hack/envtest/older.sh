#!/bin/sh
# Usage: older.sh v1.36.3 DIRECTORY -- compiles the control plane of another Kubernetes release into the directory. Which
# releases the Go module proxy has, go list -m -versions k8s.io/kubernetes says.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
version=$1
mkdir -p "$2"
to=$(cd "$2" && pwd)
test -x "$to/kube-apiserver" && exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here/update.sh" "$work"
cd "$work"
sh update.sh "$version"
minor=${version#v1.}
stamp=k8s.io/component-base/version
CGO_ENABLED=0 GOFLAGS= GOWORK=off nice -n 10 go build -buildvcs=false -trimpath '-gcflags=all=-l -dwarf=false' \
	-ldflags "-s -w -X $stamp.gitVersion=$version -X $stamp.gitMajor=1 -X $stamp.gitMinor=${minor%%.*} -X $stamp.gitTreeState=clean" \
	-o "$work/bin/" go.etcd.io/etcd/server/v3 k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kubectl
mv "$work/bin/server" "$work/bin/etcd"
mv "$work"/bin/* "$to"
