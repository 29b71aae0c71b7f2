// This file holds the steps of workloads in a scenario's world W.

package worlds

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// InTurn performs steps one after the other.
func InTurn[W any](steps ...func(W)) func(W) {
	return func(w W) {
		for _, happens := range steps {
			happens(w)
		}
	}
}

// Sleep lets time pass.
func Sleep[W interface{ Sleep(d time.Duration) }](d time.Duration) func(W) {
	return func(w W) { w.Sleep(d) }
}

// MergePatch is a merge patch, as JSON.
func MergePatch(format string, args ...any) client.Patch {
	return client.RawPatch(types.MergePatchType, fmt.Appendf(nil, format, args...))
}

// Must panics if an error is not nil that cannot happen.
func Must(err error, format string, args ...any) {
	if err != nil {
		panic(fmt.Sprintf(format, args...) + ": " + err.Error())
	}
}
