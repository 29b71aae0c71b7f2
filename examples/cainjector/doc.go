// Package cainjector tests a released operator as it comes from the module proxy: the cainjector of
// cert-manager 1.21.2, which copies the certificates of authorities into webhook configurations.
package cainjector
