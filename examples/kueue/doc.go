// Package kueue tests a released operator as it comes from the module proxy: the controllers of
// Kueue for ProvisioningRequests. It has only tests of public bugs (-tags=known).
package kueue
