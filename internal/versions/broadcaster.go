package versions

import (
	"reflect"

	"k8s.io/client-go/tools/cache"
)

// BroadcastersSpin reports whether client-go is older than 0.36. Until then the broadcaster of
// Events closed the channels of its watchers before it cancelled their context, and in between they
// received from them again and again (tools/record/event.go).
func BroadcastersSpin() bool {
	_, newer := reflect.TypeFor[cache.SharedIndexInformer]().MethodByName("HasSyncedChecker")
	return !newer
}
