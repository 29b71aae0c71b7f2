// Package agentsandbox tests a released operator as it comes from the module proxy: agent-sandbox
// 0.5.6 with its extensions, which gives claims a Sandbox from a warm pool. The module has a path
// below that of the operator, because main uses its internal packages.
package agentsandbox
