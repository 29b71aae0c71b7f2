//go:build conformance

package main

import (
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

// The control plane ends with its standard input, and leaves no port and no directory, also none of
// its starter. So nothing outlives a wavetank confirm that is interrupted or killed.
func TestControlPlaneEndsWithItsInput(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp) // where envtest keeps data and certificates
	of := filepath.Join(t.TempDir(), "starter")
	if err := os.Mkdir(of, 0o777); err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(of, "kubeconfig")
	in, parent := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serve(kubeconfig, []string{of}, in, "") }()
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(kubeconfig); err == nil {
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatal("no kubeconfig after a minute")
		}
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(cfg.Host)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	parent.Close()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the control plane has not ended after a minute")
	}
	if c, err := net.Dial("tcp", u.Host); err == nil {
		c.Close()
		t.Error("the API server still listens")
	}
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("%s is left in the temporary directory", left[0].Name())
	}
	if _, err := os.Stat(of); !os.IsNotExist(err) {
		t.Errorf("the directory of its starter: %v, want that it is gone", err)
	}
}
