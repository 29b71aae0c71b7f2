// Command controlplane starts a throw-away control plane, etcd and kube-apiserver, for the command
// wavetank confirm. It writes a kubeconfig to the path that it is given. The control plane ends
// when standard input does, so it does not outlive the process that has started it. Then it removes
// the directories that it is given, which that process may not have been able to do. On Linux etcd
// and kube-apiserver end with this command, even if it is killed.
package main

import (
	"fmt"
	"os"
)

// assetsOf is the environment variable that has this command replace itself by one of the programs
// in a directory: that of the name by which it was called.
const assetsOf = "WAVETANK_CONTROLPLANE_ASSETS"

func main() {
	if dir := os.Getenv(assetsOf); dir != "" {
		fmt.Fprintln(os.Stderr, become(dir))
		os.Exit(1)
	}
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: controlplane kubeconfig [directory to remove at the end] ...")
		os.Exit(2)
	}
	self, err := os.Executable()
	if err == nil {
		err = serve(os.Args[1], os.Args[2:], os.Stdin, self)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
