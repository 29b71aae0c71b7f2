package reports

import (
	"maps"
	"slices"
)

func first[T any](lines []T, n int) []T { return lines[:min(n, len(lines))] }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// cut shortens a text to n runes.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
