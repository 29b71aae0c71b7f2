// Package upstream compares the models of built-in controllers with the real ones. The controllers
// of k8s.io/kubernetes run as processes of a simulated cluster, and the same scenarios run with our
// models. Both must leave the same behind, conditions and events included.
//
// It is a module of its own, because k8s.io/kubernetes takes minutes to build and is not meant to
// be imported. To add a controller, write its main next to those in controllers_test.go and
// its scenarios in a file of their own. Every object of the cluster is compared.
//
// The real controllers range over maps and start goroutines of their own, so that a seed repeats a
// run with them as a rule only; it always repeats one with the models.
package upstream
