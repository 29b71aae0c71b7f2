// Package stored reads what the API server stored or said, as the history of a run holds it.
package stored

import (
	"encoding/json"
	"fmt"
)

// Decode decodes JSON that a server made. That it cannot be is a mistake of the harness or of a
// scenario's type, never of an operator's: it panics, with the beginning of what it was given.
func Decode(data []byte, into any) {
	if err := json.Unmarshal(data, into); err != nil {
		panic(fmt.Sprintf("what the server stored cannot be decoded: %v: %.80s", err, data))
	}
}
