// Command release prepares a release. It is run in the root of the repository:
//
//	go run ./hack/release consume VERSION  # use the committed code as a stranger would
//	go run ./hack/release check VERSION    # make release: say what is missing, or what to tag
package main

import (
	"log"
	"os"
)

// released are the directories of the modules that get a tag, and those that they require before
// them.
var released = []string{".", "sim/simginkgo", "cmd/wavetank", "controllers", "scenarios"}

const modulePath = "github.com/wavetank/wavetank"

// checkout is the root of this repository.
var checkout = "."

func main() {
	log.SetFlags(0)
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 2 && args[0] == "consume":
		err = consume(".", args[1])
	case len(args) == 2 && args[0] == "check":
		err = check(".", args[1], os.Stdout)
	default:
		log.Fatal("write one of: consume VERSION, check VERSION")
	}
	if err != nil {
		log.Fatal(err)
	}
}
