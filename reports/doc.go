// Package reports renders what runs and campaigns left behind, for people and for machines.
//
//   - [Timeline] and [Compare] are HTML pages of one run and of two side by side, which need no network and no other file;
//     [Campaign], [CataloguePage] and [Index] are pages over many.
//   - [Text] is for a terminal, [Markdown] for a pull request, [JUnit] and [Annotations] for machines that build and test.
//   - [Run] is what they are made of: a story and its whole history, as -sim.report keeps them on file.
//
// It reads stories and histories and nothing else; it runs nothing and decides nothing. It is light, the standard library
// and packages story and history, so that sim can draw with it. The pages' script is TypeScript, in web; make web builds
// it into dist, which is embedded.
package reports
