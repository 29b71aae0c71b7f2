// Package manager stands for controller-runtime's.
package manager

// Manager is a part of the real one.
type Manager interface{ Add(any) error }
