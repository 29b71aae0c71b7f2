package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const licencesFile = "docs/licences.md"

// linked are the packages that users build.
var linked = []string{"./sim/...", "./models/...", "./history/...", "./reports", "./cmd/wavetank",
	"./sim/simginkgo"}

const head = `# Licences of what is linked

This page is written by "make generate"; do not edit it. Wavetank itself is licensed as [LICENSE](../LICENSE)
says. These modules are built into tests that import sim or sim/simginkgo, and into the command. The licence
is recognised by its text.

| module | licence |
| --- | --- |
`

// phrases are sentences that only one licence has. Where several match, the first counts.
var phrases = [][2]string{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"MPL-2.0", "Mozilla Public License Version 2.0"},
	{"MPL-2.0", "Mozilla Public License, version 2.0"},
	{"BSD-3-Clause", "Neither the name of"},
	{"BSD-3-Clause", "may be used to endorse or promote products"},
	{"BSD-2-Clause", "Redistributions in binary form must reproduce"},
	{"MIT", "Permission is hereby granted, free of charge"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software"},
	{"ISC", "Permission to use, copy, modify, and distribute this software"},
	{"Unlicense", "This is free and unencumbered software"},
}

// licenceOf is the licence of a module, by the text of its file.
func licenceOf(dir string) (string, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, f := range files {
		name := strings.ToUpper(f.Name())
		if f.IsDir() || !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return "", err
		}
		text := strings.Join(strings.Fields(string(data)), " ")
		for _, p := range phrases {
			if strings.Contains(text, p[1]) {
				return p[0], nil
			}
		}
		return "", fmt.Errorf("%s/%s is of a kind that is not known here", dir, f.Name())
	}
	return "", fmt.Errorf("%s has no licence file", dir)
}

// licences is the page of the modules that users link, with their licences.
func licences(root string) (string, error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=Module"}, linked...)...)
	cmd.Dir = root
	data, err := cmd.Output()
	if err != nil {
		return "", err
	}
	rows := map[string]string{}
	for dec := json.NewDecoder(strings.NewReader(string(data))); ; {
		var p struct {
			Module *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return "", err
		}
		if p.Module == nil || p.Module.Main || rows[p.Module.Path] != "" {
			continue
		}
		licence, err := licenceOf(p.Module.Dir)
		if err != nil {
			return "", err
		}
		rows[p.Module.Path] = fmt.Sprintf("| %s | %s |\n", p.Module.Path, licence)
	}
	var lines []string
	for _, row := range rows {
		lines = append(lines, row)
	}
	slices.Sort(lines)
	return head + strings.Join(lines, ""), nil
}

func writeLicences(root string) error {
	text, err := licences(root)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, licencesFile), []byte(text), 0o644)
}
