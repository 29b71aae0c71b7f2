//go:build !windows

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// launchBy has envtest start links to this command, in a directory. They replace themselves by etcd
// and kube-apiserver: see [become].
func launchBy(self, dir string, env *envtest.Environment) error {
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = "/usr/local/kubebuilder/bin" // where envtest looks then
	}
	server := env.ControlPlane.GetAPIServer()
	env.ControlPlane.Etcd = &envtest.Etcd{}
	for name, path := range map[string]*string{"etcd": &env.ControlPlane.Etcd.Path, "kube-apiserver": &server.Path} {
		*path = filepath.Join(dir, name)
		if err := os.Symlink(self, *path); err != nil {
			return err
		}
	}
	return os.Setenv(assetsOf, assets)
}

// become replaces this process by the program of its name in a directory. The program is killed
// when the process that has started it ends, if the platform can do that.
func become(dir string) error {
	if err := dieWithParent(); err != nil {
		return err
	}
	program := filepath.Join(dir, filepath.Base(os.Args[0]))
	return fmt.Errorf("starting %s: %w", program, syscall.Exec(program, os.Args, os.Environ()))
}
