// Package reports renders the results of runs and campaigns, for people and for machines.
//
//   - [WriteRun] and [SideBySide] make HTML pages of one run and of two side by side. They need no
//     network and no other file. [WriteIndex] makes pages about many runs.
//   - [WriteText] is for a terminal, [Markdown] for a pull request, [JUnit] and [Annotations] for
//     CI systems.
//   - [Run] is what they are made of: a story and its whole history, as -sim.report stores them.
//
// The package reads stories and histories and nothing else. It runs nothing and decides nothing. It
// imports only the standard library and the packages story and history, so that sim can render with
// it. The script of the pages is TypeScript, in web. make web builds it into dist, which is
// embedded.
package reports
