# Licences of what is linked

This page is written by "make generate"; do not edit it. Wavetank itself is licensed as [LICENSE](../LICENSE)
says. These libraries are built into tests that import sim or sim/simginkgo, and into the command. go-licenses
recognises the licences.

| library | licence |
| --- | --- |
{{range .}}| {{.Name}} | {{.LicenseName}} |
{{end}}