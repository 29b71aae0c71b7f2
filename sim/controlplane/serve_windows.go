package main

import (
	"errors"
	"io"
)

func become(string) error { return errors.New("no program is started by this command on Windows") }

// serve refuses, because envtest of controller-runtime 0.25 does not compile for Windows.
func serve(string, []string, io.Reader, string) error {
	return errors.New("envtest does not compile for Windows; use a running server: wavetank confirm --kubeconfig " +
		"<file> --context <name>")
}
