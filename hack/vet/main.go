// Command vet stands between go vet and its tool, and keeps it from the packages of other modules:
//
//	VET=$(go tool -n vet) go vet -vettool=bin/vet ./...
//
// go vet looks at everything that is imported, for what it may learn about functions that print.
// That is a thousand packages, again for each version and platform, and takes minutes.
package main

import (
	"encoding/json"
	"errors"
	"log"
	"os"
	"os/exec"
	"strings"
)

// unit is what the go command says of a package.
type unit struct {
	VetxOnly   bool   // it is imported only
	VetxOutput string // where to write what was learned
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 || os.Getenv("VET") == "" {
		log.Fatal("go vet runs this: VET=$(go tool -n vet) go vet -vettool=bin/vet ./...")
	}
	if last := os.Args[len(os.Args)-1]; strings.HasSuffix(last, ".cfg") {
		var u unit
		data, err := os.ReadFile(last)
		if err := errors.Join(err, json.Unmarshal(data, &u)); err != nil {
			log.Fatal(err)
		}
		if u.VetxOnly {
			if err := os.WriteFile(u.VetxOutput, nil, 0o666); err != nil {
				log.Fatal(err)
			}
			return
		}
	}
	tool := exec.Command(os.Getenv("VET"), os.Args[1:]...)
	tool.Stderr = os.Stderr
	if os.Args[1] == "-V=full" {
		// What the tool learned by itself, and is in the cache, is not what it learns here.
		version, err := tool.Output()
		if err != nil {
			log.Fatal(err)
		}
		os.Stdout.WriteString(strings.Replace(string(version), " version ", " version own-", 1))
		return
	}
	tool.Stdin, tool.Stdout = os.Stdin, os.Stdout
	err := tool.Run()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	} else if err != nil {
		log.Fatal(err)
	}
}
