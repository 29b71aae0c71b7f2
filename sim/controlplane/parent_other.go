//go:build !linux && !windows

package main

func dieWithParent() error { return nil }
