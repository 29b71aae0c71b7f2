package process

import (
	"regexp"
	"runtime"
)

// labelInStack is the profiler's label of an incarnation in the first line of a goroutine's stack.
var labelInStack = regexp.MustCompile(` labels:\{.*"` + incarnationLabel + `": "([^"]+)"`)

// labelledName is the name of the incarnation that the calling goroutine belongs to; "" for none.
func labelledName() string {
	var head [512]byte
	if found := labelInStack.FindSubmatch(head[:runtime.Stack(head[:], false)]); found != nil {
		return string(found[1])
	}
	return ""
}
