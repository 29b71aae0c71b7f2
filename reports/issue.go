package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
)

// issueLines is how many lines of a story an issue shows.
const issueLines = 30

// causes state when a cluster does what a class of faults does, and how to do it by hand.
var causes = map[string]struct{ when, how string }{
	"Conflict": {"another writer changes the object at the same time",
		"return a conflict for this request from an interceptor (interceptor.NewClient of controller-runtime)"},
	"Crash": {"an upgrade, an eviction, a lost leader election or a kernel that kills the process",
		"end the process at this request (os.Exit in an interceptor of the client), and start it again"},
	"DoubledEffect": {"a proxy repeats a request", "send the request to the service twice"},
	"DroppedWatch":  {"an API server restarts, or a connection breaks", "close the watch at this event"},
	"Expired":       {"an informer is away for longer than etcd keeps old revisions", "answer the watch with 410 Gone"},
	"FailedEffect":  {"the service is overloaded", "answer the request to the service with an error"},
	"FailedPod":     {"a program fails, or is out of memory", "let the container exit with this code"},
	"Forbidden": {"an administrator changes a role, or an aggregated role is not there yet",
		"answer with 403 Forbidden for a while"},
	"HostDown":      {"the service is deployed, or overloaded", "stop the service for a while"},
	"LeaderOverlap": {"a leader is slow, and a second one takes over", "run two replicas, and pause the first one"},
	"LostReply": {"a connection breaks, or a load balancer times out",
		"return a time-out for this request from an interceptor, before or after it is sent as the story says"},
	"MissedStates": {"an informer lists again, and does not see what was between two lists",
		"make both changes while the watch is cut off"},
	"NodeDown": {"a node loses its power or its network", "stop the kubelet of the node for a while"},
	"Pause":    {"a node is overloaded, or its CPU is throttled", "send SIGSTOP to the process, and SIGCONT later"},
	"RacingRequeue": {"an unrelated watch event arrives at this moment",
		"add the key to the queue by a change that means nothing, such as an annotation"},
	"Relist": {
		"an API server restarts, and its watch cache is empty",
		"close the watch, so that it lists again",
	},
	"Rejected": {
		"an admission webhook or a quota refuses the request",
		"refuse the request in an admission webhook",
	},
	"Restart": {"an upgrade, or an eviction", "send SIGTERM to the process, and start it again"},
	"ServerError": {
		"an API server or etcd is overloaded",
		"return a server error for this request from an interceptor",
	},
	"SlowEffect":    {"the service is overloaded", "let the service answer late"},
	"SlowNamespace": {"a namespace has many objects", "keep a finalizer in the namespace for a while"},
	"StaleCache": {"an API server or the operator is busy, or a watch reconnects",
		"hold the watch events back that the story shows as late, for example in a transform of the cache that sleeps"},
	"StaleServer": {"there are several API servers, and one lags", "read from the API server whose watch cache lags"},
	"Unreachable": {"a network partition", "cut the operator off from the API server for a while"},
	"WebhookDown": {"the Pod that serves the webhook restarts", "stop the Pod that serves the webhook"},
}

// Issue renders a story as a report for a project that does not know Wavetank: what happens, when a
// cluster does it, the versions, the story in words, and how to see it with and without Wavetank.
func Issue(s *story.Story) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Violated: %s\n\n## What happens\n\n%s\n", plainText(s.Property), plainText(s.Message))
	writeParagraph(&b, s)
	fmt.Fprintf(&b, "\n## Why it matters\n\n%s\n\n", matters(s))
	classes := s.FaultClasses()
	for _, class := range classes {
		if c, ok := causes[faultClass(class)]; ok {
			fmt.Fprintf(&b, "- %s: %s.\n", plainText(class), c.when)
		}
	}
	if len(classes) == 0 {
		b.WriteString("It needs no fault, only this order of events.\n")
	}
	b.WriteString("\n## Versions\n\n")
	for _, module := range slices.Sorted(maps.Keys(s.Versions)) {
		fmt.Fprintf(&b, "- %s %s\n", plainText(module), plainText(s.Versions[module]))
	}
	fmt.Fprintf(&b, "\n## The story\n\nTimes are minutes and seconds from the start.\n\n```text\n%s\n```\n",
		story.Printable(strings.Join(s.Excerpt(issueLines), "\n")))
	fmt.Fprintf(&b, "\n## To see it with Wavetank\n\nIn the module of the test:\n\n```sh\n%s\n```\n",
		story.Printable(s.Replay))
	b.WriteString("\n## To see it without Wavetank\n\nIn envtest or a cluster, bring about the story in its order.\n\n")
	for _, class := range classes {
		if c, ok := causes[faultClass(class)]; ok {
			fmt.Fprintf(&b, "- %s: %s.\n", plainText(class), c.how)
		}
	}
	for _, delay := range s.Delays() {
		fmt.Fprintf(&b, "- Delay: %s\n", plainText(delay))
	}
	return b.String()
}

// writeParagraph writes the explanation of a story as a list in Markdown.
func writeParagraph(b *strings.Builder, s *story.Story) {
	for i, sentence := range s.Paragraph() {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "- %s\n", plainText(sentence))
	}
}

// matters is what the kind of property means to a user.
func matters(s *story.Story) string {
	switch s.Kind {
	case "always":
		return "For a time the cluster is in a state that the operator excludes. Other programs may act on it, and " +
			"what they do then is not taken back. A cluster gets there by what follows:"
	case "eventually":
		return "The operator does not recover: everything works again, no request is pending, and the state stays " +
			"wrong until a person intervenes. A cluster gets there by what follows:"
	}
	return "A cluster gets there by what follows:"
}

// faultClass is a class without the process that it strikes: Crash of "Crash(operator)".
func faultClass(class string) string {
	name, _, _ := strings.Cut(class, "(")
	return name
}

// plainText is a text of a story within Markdown: printable, and with no markup or mention.
func plainText(s string) string {
	escape := strings.NewReplacer("<", "&lt;", "@", "&#64;", "#", "&#35;", "*", "&#42;", "`", "'", "\n", " ")
	return escape.Replace(story.Printable(s))
}
