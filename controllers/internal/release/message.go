// This file shortens what Helm and the server say of a failure to what a status can hold.

package release

import "strings"

// mostSaid is how long the message of a condition may be, as metav1.Condition has it.
const mostSaid = 32768

// Said cuts a message to what a condition can hold: a longer one is refused, and with it all of the
// status, so that nobody would be told anything. What comes first matters most.
func Said(message string) string {
	if len(message) <= mostSaid {
		return message
	}
	return strings.ToValidUTF8(message[:mostSaid], "") // the last character may have been cut in two
}
