package process

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// This file is the only one that relies on something that controller-runtime does not promise: the
// controller that reaches Manager.Add has exported fields Name, Do, NewQueue, RateLimiter and
// RecoverPanic. Their types are public but their struct is not, so they are set by reflection.
// reflection_test.go fails with an explanation when that changes.

// controllerFields are the fields of one controller that the observers replace.
type controllerFields struct {
	name     string
	do       reflect.Value // reconcile.TypedReconciler[request]
	newQueue reflect.Value // func(string, rateLimiter) workQueue
	limiter  reflect.Value // rateLimiter
	dies     bool          // RecoverPanic is false: a panic ends the process
}

// errFieldsMoved explains what to do when controller-runtime has changed.
var errFieldsMoved = errors.New("wavetank: this version of controller-runtime keeps a controller's Do, NewQueue " +
	"and RateLimiter elsewhere; use controller-runtime v0.25, or update sim/internal/process/reflection.go")

// structOf returns controller-runtime's own struct if r is one of its controllers.
func structOf(r manager.Runnable) (v reflect.Value, is bool) {
	v = reflect.ValueOf(r)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return v, false
	}
	v = v.Elem()
	return v, v.Type().PkgPath() == "sigs.k8s.io/controller-runtime/pkg/internal/controller"
}

// fieldsOf returns the fields if r is a controller over reconcile.Request; ok is false for any
// other runnable.
func fieldsOf(r manager.Runnable) (f controllerFields, ok bool, err error) {
	if _, is := r.(reconcile.TypedReconciler[request]); !is {
		return f, false, nil
	}
	v, is := structOf(r)
	if !is {
		return f, false, nil // a runnable of the user's that happens to have a Reconcile method
	}
	f.do, f.newQueue, f.limiter = v.FieldByName("Do"), v.FieldByName("NewQueue"), v.FieldByName("RateLimiter")
	name := v.FieldByName("Name")
	for _, field := range []reflect.Value{name, f.do, f.newQueue, f.limiter, v.FieldByName("RecoverPanic")} {
		if !field.IsValid() || !field.CanSet() {
			return f, false, errFieldsMoved
		}
	}
	if _, fits := f.newQueue.Interface().(func(string, rateLimiter) workQueue); !fits {
		return f, false, errFieldsMoved
	}
	f.name = name.String()
	if recovers, is := v.FieldByName("RecoverPanic").Interface().(*bool); is {
		f.dies = recovers != nil && !*recovers
	}
	return f, true, nil
}

// queueName is the name for a queue that newQueue makes for a controller. Both types of queues
// publish metrics under their name, and a ticker of 500 ms keeps these up to date. In a quiet hour
// of virtual time little else happens. A queue without a name has no metrics. A function of the
// operator's own gets the controller's name, as it may need it.
func queueName(newQueue func(string, rateLimiter) workQueue, controller string) string {
	f := runtime.FuncForPC(reflect.ValueOf(newQueue).Pointer())
	if f != nil && strings.HasPrefix(f.Name(), "sigs.k8s.io/controller-runtime/pkg/controller.") {
		return ""
	}
	return controller
}

// unobservable returns the name of a controller whose requests are of the operator's own type. Its
// queue is generic code that is not instantiated here, so it cannot be observed.
func unobservable(r manager.Runnable) (name string, is bool) {
	v, is := structOf(r)
	if !is {
		return "", false
	}
	n, do := v.FieldByName("Name"), v.FieldByName("Do")
	if !n.IsValid() || !do.IsValid() {
		return "", false
	}
	return fmt.Sprintf("controller %q (%s)", n.String(), do.Type()), true
}

// warmsUp reports whether r is a controller that starts its sources before it leads.
func warmsUp(r manager.Runnable) bool {
	v, is := structOf(r)
	if !is {
		return false
	}
	f := v.FieldByName("EnableWarmup")
	if !f.IsValid() {
		return false // a version that has no warm-up
	}
	warm, ok := f.Interface().(*bool)
	return ok && warm != nil && *warm
}
