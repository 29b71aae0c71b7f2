// Command controlplane starts a throw-away control plane, etcd and kube-apiserver, for the command
// wavetank confirm. It writes a kubeconfig to the path that it is given. The control plane ends
// when standard input does, so it does not outlive the process that has started it. Then it removes
// the directories that it is given, which that process may not have been able to do.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: controlplane kubeconfig [directory to remove at the end] ...")
		os.Exit(2)
	}
	if err := serve(os.Args[1], os.Args[2:], os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
