package run

// ScopeWords stand before what narrows a fault in its declaration: its process, kind, verb and
// name, and that it restarts a process at once.
var ScopeWords = [...]string{" in ", " of ", " on ", " named ", " at once"}
