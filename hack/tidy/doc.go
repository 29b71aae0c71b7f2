// Package tidy has the tests of this repository's rules that no linter knows: import arrows, where
// goroutines begin, the width of comments, words, and what pages and make targets name. The rules
// that linters know are in .golangci.yml.
package tidy
