package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"

	"github.com/wavetank/wavetank/internal/story"
)

func replayCommand() *cobra.Command {
	verbose, exact, explained, all := false, false, false, false
	cmd := &cobra.Command{
		Use:     "replay story.txtar|directory …",
		Short:   "Replay stories, or explain them: exit code 1 if one still breaks",
		Example: "  wavetank replay testdata/sim/TestPromoteOnce/0ad58962.txtar\n  wavetank replay testdata/sim",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if explained {
				return explainAll(cmd.OutOrStdout(), args, all)
			}
			var extra []string
			if verbose {
				extra = []string{"-sim.v"}
			}
			if exact {
				extra = append(extra, overlaid)
			}
			return replayAll(cmd, args, extra)
		},
	}
	cmd.Flags().BoolVar(&exact, "exact", false,
		"use exact mode, as for stories that were found in it: see wavetank overlay")
	cmd.Flags().BoolVar(&explained, "explain", false,
		"run nothing, and explain in sentences what led to the violation")
	cmd.Flags().BoolVar(&all, "all", false, "with --explain: every line, not only those that led to the violation")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "print every event of the run")
	return cmd
}

func shrinkCommand() *cobra.Command {
	limit := 5 * time.Minute
	cmd := &cobra.Command{
		Use:     "shrink story.txtar …",
		Short:   "Search longer for a shorter form of stories, and keep it next to them",
		Example: "  wavetank shrink --for 10m testdata/sim/TestPromoteOnce/0ad58962.txtar",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit <= 0 {
				return fmt.Errorf("--for %v leaves no time to shrink; give it a few minutes", limit)
			}
			err := replayAll(cmd, args, []string{"-sim.shrink=" + limit.String()})
			if errors.Is(err, errBroke) {
				return nil // a story that is to be shrunk should break
			}
			return err
		},
	}
	cmd.Flags().DurationVar(&limit, "for", limit,
		"CPU time for each story, and up to twice as much while it still gets shorter")
	return cmd
}

func replayAll(cmd *cobra.Command, paths, extra []string) error {
	r, err := newReplayer(cmd, extra)
	if err != nil {
		return err
	}
	defer r.close()
	if paths, err = storiesIn(paths); err != nil {
		return err
	}
	broke := false
	for _, path := range paths {
		said, err := r.replay(path, cmd.OutOrStdout())
		if err != nil {
			return err
		}
		broke = broke || slices.Contains(said, "broke")
	}
	if broke {
		return errBroke
	}
	return nil
}

// errNoTest says that no test took up a story.
var errNoTest = errors.New("its command selects no test; if the test has been renamed, " +
	"correct the lines \"test:\" and \"replay:\" of the file")

// storiesIn replaces each directory by the stories below it.
func storiesIn(paths []string) (out []string, err error) {
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			out = append(out, path)
			continue
		}
		before := len(out)
		err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Ext(p) == ".txtar" {
				out = append(out, p)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(out) == before {
			return nil, fmt.Errorf("no story (*.txtar) lies below %s", path)
		}
	}
	return out, nil
}

// directory is where go must run so that it finds the package of a story. It is the story's
// directory if that lies in the module of the package and the working directory does not. Otherwise
// it is "", which is the working directory.
func directory(path, pkg string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	here, _ := os.Getwd()
	for dir := filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if errors.Is(err, os.ErrNotExist) && dir != filepath.Dir(dir) {
			continue
		}
		name := modfile.ModulePath(text)
		inside := here == dir || strings.HasPrefix(here, dir+string(filepath.Separator))
		if err != nil || inside || pkg != name && !strings.HasPrefix(pkg, name+"/") {
			return ""
		}
		return filepath.Dir(abs)
	}
}

// overlaid is story.Overlaid without its quotes. It stands for an overlay that has not been made
// yet.
var overlaid = strings.ReplaceAll(story.Overlaid, `"`, "")

// harmless are words that may influence the run and can do no damage.
var harmless = regexp.MustCompile(`^(-race|-tags=[\w.,]+|-sim\.max-steps=[0-9]+)$`)

// replayArgs are the arguments of the story's own command, with the path of the file as given.
// Anybody may have written the file, so only words that select a test or are harmless are accepted.
func replayArgs(path string, extra []string) ([]string, error) {
	s, err := story.Read(path)
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	words, err := shellquote.Split(s.Replay)
	if err != nil || len(words) < 3 || words[0] != "go" || words[1] != "test" || strings.HasPrefix(words[2], "-") {
		return nil, fmt.Errorf("%s: its replay command %q is not \"go test <package> …\"", path, s.Replay)
	}
	args := []string{"test", words[2], "-count=1", "-v", "-timeout=0"}
	for i := 3; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-run" && i+1 < len(words):
			args = append(args, "-run="+words[i+1])
			i++
		case strings.HasPrefix(w, "-run=") || strings.HasPrefix(w, "-ginkgo.focus="):
			args = append(args, w)
		case harmless.MatchString(w), w == overlaid && !slices.Contains(extra, overlaid):
			args = append(args, w)
		case w == overlaid:
		case strings.HasPrefix(w, "-sim.replay="):
		default:
			return nil, fmt.Errorf("%s: its replay command has the word %q, which does not select a test", path, w)
		}
	}
	return append(append(args, "-sim.replay="+abs), extra...), nil
}

// relative returns a path relative to the working directory.
func relative(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if r, err := filepath.Rel(here, path); err == nil && !strings.HasPrefix(r, "..") {
		return r
	}
	return path
}
