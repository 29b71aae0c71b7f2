//go:build !unix

package campaign

// replaceProcess does nothing where a process cannot become another program.
func replaceProcess() {}
