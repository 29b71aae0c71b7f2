package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/internal/story"
)

// clockLag is how far the times of files may be behind the clock.
const clockLag = 100 * time.Millisecond

// session makes the campaigns of one command.
type session struct {
	*options
	tmp       string
	binaries  int    // built so far
	overlay   string // of exact mode; "" until it is needed
	out, errs io.Writer
	built     func() // is called after each build
}

// made is the outcome of the campaigns of a package.
type made struct {
	dir     string
	results []*story.Result
	failed  bool // a test failed
}

// campaigns builds the tests of a package and makes their campaigns.
func (s *session) campaigns(ctx context.Context, p testPackage, exact bool) (made, error) {
	binary := filepath.Join(s.tmp, fmt.Sprintf("%d.test", s.binaries))
	s.binaries++
	var flags []string
	// One directory for each number of processes: shards of different divisions do not add up.
	dir := fmt.Sprintf("%s-by-%d", strings.NewReplacer("/", "_", ".", "_").Replace(p.Path), s.procs)
	if exact {
		if err := s.makeOverlay(); err != nil {
			return made{}, err
		}
		flags, dir = []string{"-overlay=" + s.overlay}, dir+"-exact"
	}
	if err := compile(ctx, s.errs, testBinary{pkg: p.Path, path: binary, flags: flags}); err != nil {
		return made{}, err
	}
	s.built()
	m, began := made{dir: filepath.Join(s.report, dir)}, time.Now()
	output, err := s.runProcesses(ctx, p, binary, m.dir, s.errs)
	if err != nil {
		m.failed = true
		fmt.Fprint(s.out, output)
	}
	m.results, err = mergeDir(selection{since: began.Add(-clockLag), newest: true}, m.dir)
	if err != nil && ctx.Err() == nil {
		return m, err
	}
	if len(m.results) == 0 && ctx.Err() == nil {
		fmt.Fprintf(s.out, "%s: no campaign was begun: --run selects no test, or none of them could begin\n", p.Path)
	}
	return m, nil
}

func (s *session) makeOverlay() (err error) {
	if s.overlay == "" {
		s.overlay, err = overlay(filepath.Join(s.tmp, "overlay"))
	}
	return err
}

// repeatInExactMode makes the campaigns of a package again in exact mode if their runs differ now
// and then. A violation of the first campaigns still counts.
func (s *session) repeatInExactMode(ctx context.Context, p testPackage, first made) (made, error) {
	differ := func(r *story.Result) bool { return !r.Replays() }
	broke := func(r *story.Result) bool { return len(r.Findings) > 0 && !r.Explored }
	if !slices.ContainsFunc(first.results, differ) {
		return first, nil
	}
	if err := s.makeOverlay(); err != nil {
		fmt.Fprintf(s.out, "%s: two runs of one choice sequence differ now and then, "+
			"and exact mode is not possible: %v\n", p.Path, err)
		return first, nil
	}
	summary(s.out, first.results)
	fmt.Fprintf(s.out, "%s: two runs of one choice sequence differ now and then, so its campaigns are made again "+
		"in exact mode; the results so far stay in %s\n", p.Path, relative(first.dir))
	second, err := s.campaigns(ctx, p, true)
	second.failed = second.failed || slices.ContainsFunc(first.results, broke)
	return second, err
}
