// Command lay lays out a project in a new directory, with the files that its generators make. It is
// run from the root of this repository:
//
//	go run ./cmd/wavetank/internal/project/lay dnsrecord /tmp/dns-operator
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/wavetank/wavetank/cmd/wavetank/internal/project"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatalf("usage: lay <%s> <directory>", strings.Join(project.Names(), "|"))
	}
	if err := lay(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func lay(name, dir string) error {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty; name a new directory", dir)
	}
	checkout, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("finding the root of the repository: %w", err)
	}
	return errors.Join(project.Write(dir, name), project.Generate(context.Background(), checkout, dir))
}
