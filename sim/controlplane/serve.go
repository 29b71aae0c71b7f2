//go:build !windows

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// serve starts the control plane, and stops it when the input or the process is to end. In the end
// it removes the directories. If self is not empty, it is the path of this command, which etcd and
// kube-apiserver are started by.
func serve(kubeconfig string, directories []string, until io.Reader, self string) (err error) {
	defer func() {
		for _, dir := range directories {
			_ = os.RemoveAll(dir) // as much as can be: the starter removes it, too
		}
	}()
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	over := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, until)
		close(over)
	}()
	env := &envtest.Environment{ControlPlaneStartTimeout: time.Minute, ControlPlaneStopTimeout: 20 * time.Second}
	// Any address will do, but without one a machine that has no default route is refused.
	env.ControlPlane.GetAPIServer().Configure().Set("advertise-address", "192.0.2.1")
	if self != "" {
		if err := launchBy(self, filepath.Dir(kubeconfig), env); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, env.Stop()) }()
	if _, err := env.Start(); err != nil {
		return fmt.Errorf("starting the control plane: %w", err)
	}
	// The file is there as a whole or not at all: its reader waits for it.
	part := kubeconfig + ".part"
	if err := errors.Join(os.WriteFile(part, env.KubeConfig, 0o600), os.Rename(part, kubeconfig)); err != nil {
		return err
	}
	select {
	case <-interrupted:
	case <-over:
	}
	return nil
}
