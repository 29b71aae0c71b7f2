// This file keeps docs/tutorial.md true: what it says to write is written, what it says to run is
// run, and what it shows must be said.

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

//make:campaigns
func TestTutorial(t *testing.T) {
	page, err := os.ReadFile("../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(page), "\n"); n > 150 {
		t.Errorf("docs/tutorial.md has %d lines; 150 are enough", n)
	}
	t.Setenv("GOWORK", "off")
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	steps := 0
	for i, block := range strings.Split(string(page), "\n```") {
		info, text, _ := strings.Cut(block, "\n")
		language, file, _ := strings.Cut(info, " ")
		if i%2 == 0 {
			continue // between two blocks
		}
		steps++
		switch language {
		case "console":
			runBlock(t, checkout, text)
		case "go":
			if err := writeFile(file, []byte(text+"\n")); err != nil {
				t.Fatal(err)
			}
		case "diff":
			change(t, file, text)
		default:
			t.Errorf("a block of %q is neither run nor written", info)
		}
	}
	if steps < 6 {
		t.Errorf("the tutorial has %d steps", steps)
	}
}

// runBlock runs the commands of a block, and compares what is said with what stands below them. A
// line with … in it stands for any text there, and a line … for any lines.
func runBlock(t *testing.T, checkout, text string) {
	t.Helper()
	for _, part := range strings.Split("\n"+text, "\n$ ")[1:] {
		line, want, _ := strings.Cut(part, "\n")
		var said string
		switch words := strings.Fields(line); words[0] {
		case "wavetank":
			_, said = do(t, t.Context(), words[1:]...)
		case "cd":
			if err := os.Chdir(words[1]); err != nil {
				t.Fatal(err)
			}
		default:
			cmd := exec.Command("sh", "-c", line)
			cmd.Env = append(os.Environ(), "GOWORK=", "WAVETANK="+checkout)
			out, _ := cmd.CombinedOutput() // a test that fails is shown, too
			said = string(out)
		}
		rest := said
		for _, piece := range strings.FieldsFunc(want, func(r rune) bool { return r == '…' || r == '\n' }) {
			piece = strings.TrimSpace(piece)
			_, after, ok := strings.Cut(rest, piece)
			if !ok {
				t.Fatalf("%s does not say %q where the tutorial shows it:\n%s", line, piece, said)
			}
			rest = after
		}
	}
}

// change applies a block of lines with - and + to a file.
func change(t *testing.T, file, text string) {
	t.Helper()
	var before, after strings.Builder
	for line := range strings.Lines(text + "\n") {
		if line[0] != '+' {
			before.WriteString(line[1:])
		}
		if line[0] != '-' {
			after.WriteString(line[1:])
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), before.String()); n != 1 {
		t.Fatalf("%s has %d places for this change:\n%s\n%s", file, n, text, data)
	}
	changed := strings.Replace(string(data), before.String(), after.String(), 1)
	if err := os.WriteFile(file, []byte(changed), 0o666); err != nil {
		t.Fatal(err)
	}
}
