// Package stored decodes objects and replies of the API server in the history of a run.
package stored

import (
	"encoding/json"
	"fmt"
)

// Decode decodes JSON that a server made. It panics if that is not possible, because then the
// harness or a scenario's type is wrong, never the operator.
func Decode(data []byte, into any) {
	if err := json.Unmarshal(data, into); err != nil {
		panic(fmt.Sprintf("what the server stored cannot be decoded: %v: %.80s", err, data))
	}
}
