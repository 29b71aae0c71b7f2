// Package story reads and writes story files. A story is a txtar archive with a header that a
// reviewer can read, the choice sequence, the history of the shrunk run, and the failure.
//
// A story stores choices, not only a seed, so that it survives unrelated changes of the code under
// test. Each choice is identified by its kind, its label and the number of earlier choices of that
// kind with that label. Every choice that the story does not mention is the default.
package story

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/wavetank/wavetank/internal/atomicfile"
)

// Format is the version of the file format that this package writes.
const Format = 2

// Overlaid is an argument of the replay command, as one types it, if the run was found in exact
// mode.
const Overlaid = `-overlay="$(wavetank overlay .wavetank)"`

// Story is a shrunk failing run.
type Story struct {
	Test     string // name of the test, as go test -run takes it
	Package  string // import path of the test's package
	Kind     string // always, eventually, settles, …
	Property string // the name of the property that was violated
	Site     string // file:line where it is declared
	Message  string // what was violated and how
	Seed     string // strategy, number and base seed of the run that found it
	// Took is the CPU time of the search until that run had failed, without shrinking; 0 if it is
	// not known.
	Took   time.Duration
	Replay string // the command that replays it
	// Confirmed is the version of the real API server that violated the property, too, and the day;
	// "" if none is known.
	Confirmed string
	// Before and After are the lengths of the run as found and of the shrunk one.
	Before, After Length
	// Shrinking says how much was tried to shorten it.
	Shrinking Shrinking
	// Ignored are the properties by which the run is not judged: it violates them, too, and before
	// its own.
	Ignored []string
	// Versions are those of Go and of the modules that it was recorded with.
	Versions map[string]string
	Choices  []Choice // the choices that are not the default
	// History is the shrunk run, a line for each event.
	History []string
	// Why tells from the history what led to the violation, in sentences.
	Why []string
	// Measured are sentences about continuations of the run: when the violation was decided, and
	// what it needs. There are none if nothing was measured.
	Measured []string
	// Shares are how many continuations violate the property, by step, in order.
	Shares []Share
	// Led are the lines of the history that led to the violation, in order; nil if they are not
	// known.
	Led []Led
	// Idle are the lines of reconciles that changed nothing, of objects without a part in it, by
	// their numbers from 0, in order.
	Idle []int
}

// Headline is the property that was violated, or the first line of the message if there is none.
func (s *Story) Headline() string {
	if s.Property != "" {
		return fmt.Sprintf("%s %q", s.Kind, s.Property)
	}
	message, _, _ := strings.Cut(s.Message, "\n")
	return fmt.Sprintf("%s: %s", s.Kind, message)
}

// Length measures a run.
type Length struct{ Choices, Faults, Steps int }

// Shrinking is the search for a shorter run that fails alike.
type Shrinking struct {
	Runs    int           // that were made
	Took    time.Duration // CPU time
	Stopped bool          // the time was up before nothing more could be left out
}

// String is the search as story files have it.
func (s Shrinking) String() string {
	text := fmt.Sprintf("%d runs, %v", s.Runs, s.Took.Round(time.Millisecond))
	if s.Stopped {
		text += ", stopped"
	}
	return text
}

func (s *Shrinking) parse(v string) error {
	v, s.Stopped = strings.CutSuffix(v, ", stopped")
	runs, took, _ := strings.Cut(v, " runs, ")
	var errRuns, errTook error
	s.Runs, errRuns = strconv.Atoi(runs)
	s.Took, errTook = time.ParseDuration(took)
	if errRuns != nil || errTook != nil || s.Runs < 0 || s.Took < 0 {
		return fmt.Errorf("header line \"shrinking: %s\" must read like \"34 runs, 1.5s\"", v)
	}
	return nil
}

// Words is the length in words.
func (l Length) Words() string {
	count := func(n int, what string) string {
		if n != 1 {
			what += "s"
		}
		return fmt.Sprintf("%d %s", n, what)
	}
	return count(l.Choices, "choice") + ", " + count(l.Faults, "fault") + ", " + count(l.Steps, "step")
}

// String is the length as story files have it.
func (l Length) String() string {
	return fmt.Sprintf("%d choices, %d faults, %d steps", l.Choices, l.Faults, l.Steps)
}

// Name is the story's file name. It depends on the test, the property and the choices only.
func (s *Story) Name() string {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s\n%s\n%s\n%s\n", s.Test, s.Kind, s.Property, s.Site)
	for _, c := range s.Choices {
		fmt.Fprintf(h, "%d %s\n", c.Value, c.ID)
	}
	return fmt.Sprintf("%08x.txtar", h.Sum32())
}

// marker is a line of a message that would start a section of the archive.
var marker = regexp.MustCompile(`(?m)^-- .* --\s*$`)

// Encode writes the story as a txtar archive.
func (s *Story) Encode() []byte {
	var head bytes.Buffer
	line := func(k, v string) {
		if v != "" {
			fmt.Fprintf(&head, "%s: %s\n", k, strings.ReplaceAll(v, "\n", " "))
		}
	}
	fmt.Fprintf(&head, "wavetank story, format %d\n", Format)
	line("test", s.Test)
	line("package", s.Package)
	line("violated", s.Kind+" "+strconv.Quote(s.Property))
	line("declared", s.Site)
	for _, name := range s.Ignored {
		line("ignored", name)
	}
	line("found", s.Seed)
	if took := s.Took.Round(time.Millisecond); took > 0 {
		line("took", took.String())
	}
	line("before", s.Before.String())
	line("after", s.After.String())
	if s.Shrinking.Runs > 0 || s.Shrinking.Stopped {
		line("shrinking", s.Shrinking.String())
	}
	names := make([]string, 0, len(s.Versions))
	for n := range s.Versions {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		line("with", n+" "+s.Versions[n])
	}
	line("confirmed", s.Confirmed)
	line("replay", s.Replay)
	var choices strings.Builder
	for _, c := range s.Choices {
		fmt.Fprintln(&choices, c.Line())
	}
	files := []txtar.File{
		{Name: "violation", Data: []byte(marker.ReplaceAllString(s.Message, " $0") + "\n")},
		{Name: "choices", Data: []byte(choices.String())},
		{Name: "history", Data: []byte(strings.Join(s.History, "\n") + "\n")},
	}
	for i, said := range [][]string{s.Measured, s.Why} {
		if len(said) > 0 {
			text := marker.ReplaceAllString(strings.Join(said, "\n"), " $0") + "\n"
			name := [2]string{measuredSection, whySection}[i]
			files = slices.Insert(files, 1, txtar.File{Name: name, Data: []byte(text)})
		}
	}
	if len(s.Led) > 0 {
		files = append(files, txtar.File{Name: ledSection, Data: encodeLed(s.Led)})
	}
	if len(s.Idle) > 0 {
		files = append(files, txtar.File{Name: idleSection, Data: encodeIdle(s.Idle)})
	}
	if len(s.Shares) > 0 {
		files = append(files, txtar.File{Name: sharesSection, Data: encodeShares(s.Shares)})
	}
	return txtar.Format(&txtar.Archive{Comment: head.Bytes(), Files: files})
}

// Decode reads a story. The error describes what is wrong with the file. All that it reads is
// [Printable], except the labels of choices.
func Decode(data []byte) (*Story, error) {
	a := txtar.Parse(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))) // as Git checks files out on Windows
	lines := strings.Split(strings.TrimSpace(string(a.Comment)), "\n")
	var format int
	if _, err := fmt.Sscanf(lines[0], "wavetank story, format %d", &format); err != nil {
		return nil, fmt.Errorf("not a wavetank story: the first line must read \"wavetank story, format %d\"", Format)
	}
	if err := readable(format); err != nil {
		return nil, err
	}
	s := &Story{Versions: map[string]string{}}
	for _, l := range lines[1:] {
		k, v, ok := strings.Cut(l, ": ")
		if !ok {
			return nil, fmt.Errorf("header line %q is not \"key: value\"", l)
		}
		if err := s.header(k, Printable(v)); err != nil {
			return nil, err
		}
	}
	if s.Test == "" {
		return nil, errors.New("the header names no test")
	}
	found := false
	var err error
	for _, f := range a.Files {
		switch f.Name {
		case "violation":
			s.Message = strings.TrimSuffix(Printable(string(f.Data)), "\n")
		case "history":
			s.History = strings.Split(strings.TrimSuffix(Printable(string(f.Data)), "\n"), "\n")
		case whySection:
			s.Why = strings.Split(strings.TrimSuffix(Printable(string(f.Data)), "\n"), "\n")
		case measuredSection:
			s.Measured = strings.Split(strings.TrimSuffix(Printable(string(f.Data)), "\n"), "\n")
		case sharesSection:
			if s.Shares, err = decodeShares(string(f.Data)); err != nil {
				return nil, err
			}
		case ledSection:
			if s.Led, err = decodeLed(Printable(string(f.Data))); err != nil {
				return nil, err
			}
		case idleSection:
			if s.Idle, err = decodeIdle(string(f.Data)); err != nil {
				return nil, err
			}
		case "choices":
			found = true
			if err := s.readChoices(string(f.Data)); err != nil {
				return nil, err
			}
		}
	}
	s.Led = slices.DeleteFunc(s.Led, func(l Led) bool { return l.Line >= len(s.History) }) // an edited file
	if !found {
		return nil, errors.New("the story has no choices section, so there is nothing to replay")
	}
	return s, nil
}

// readable says why a story of a format cannot be read, and what to do.
func readable(format int) error {
	switch {
	case format > Format:
		return fmt.Errorf("the story has format %d and this version of wavetank reads format %d; use a newer one",
			format, Format)
	case format < Format:
		return fmt.Errorf("the story has format %d and this version of wavetank reads format %d; "+
			"find the failure again with the search, or replay the story with the version that wrote it",
			format, Format)
	}
	return nil
}

func (s *Story) header(k, v string) error {
	var err error
	switch k {
	case "test":
		s.Test = v
	case "package":
		s.Package = v
	case "violated":
		kind, quoted, _ := strings.Cut(v, " ")
		s.Kind = kind
		if s.Property, err = strconv.Unquote(quoted); err != nil {
			return fmt.Errorf("header line \"violated: %s\" must be a kind of property and a quoted sentence", v)
		}
		s.Property = Printable(s.Property)
	case "declared":
		s.Site = v
	case "ignored":
		s.Ignored = append(s.Ignored, v)
	case "found":
		s.Seed = v
	case "took":
		if s.Took, err = time.ParseDuration(v); err != nil || s.Took < 0 {
			return fmt.Errorf("header line \"took: %s\" must be a time, as 1.5s", v)
		}
	case "before":
		err = s.Before.parse(v)
	case "after":
		err = s.After.parse(v)
	case "shrinking":
		err = s.Shrinking.parse(v)
	case "with":
		name, version, _ := strings.Cut(v, " ")
		s.Versions[name] = version
	case "confirmed":
		s.Confirmed = v
	case "replay":
		s.Replay = v
	default:
		return fmt.Errorf("header key %q is unknown", k)
	}
	return err
}

func (l *Length) parse(v string) error {
	if _, err := fmt.Sscanf(v, "%d choices, %d faults, %d steps", &l.Choices, &l.Faults, &l.Steps); err != nil {
		return fmt.Errorf("length %q must read like \"3 choices, 1 faults, 20 steps\"", v)
	}
	return nil
}

func (s *Story) readChoices(data string) error {
	for i, l := range strings.Split(strings.TrimSpace(data), "\n") {
		if l == "" {
			continue
		}
		c, err := parseChoice(l)
		if err != nil {
			return fmt.Errorf("line %d of the choices: %w", i+1, err)
		}
		s.Choices = append(s.Choices, c)
	}
	return nil
}

// Read reads a story from a file.
func Read(path string) (*Story, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Write stores the story in a directory, which it makes if it is missing, and returns the file's
// path. If it fails, the directory has the file that it had before, or none.
func (s *Story) Write(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	path := filepath.Join(dir, s.Name())
	return path, atomicfile.Write(path, s.Encode())
}

// List returns the paths of all stories in a directory, in order. It returns none if there is no
// such directory.
func List(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	sort.Strings(paths)
	return paths, err
}
