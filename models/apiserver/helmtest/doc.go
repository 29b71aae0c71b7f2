// Package helmtest holds the test of the Helm SDK against the API model; see helm_test.go.
package helmtest
