// Package appwrapper tests a released operator as it comes from the module proxy: the controller of
// AppWrapper 1.2.2, which runs groups of resources as one workload under a quota. Its webhooks and
// its monitor of nodes are switched off, as its configuration allows. It is built with
// controller-runtime 0.24.1, and requires 0.23.3.
package appwrapper
