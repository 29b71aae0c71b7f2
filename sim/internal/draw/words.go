package draw

import (
	"encoding/json"
	"fmt"
	"reflect"
	"unicode/utf8"
)

// longestWords is how much of a value a story shows, in bytes.
const longestWords = 200

// InWords is a value for people. It must be the same in each run, so pointers are followed and
// never printed.
func InWords(v any) string {
	s, named := v.(fmt.Stringer)
	kind := reflect.ValueOf(v).Kind()
	plain := reflect.Bool <= kind && kind <= reflect.Float64 || kind == reflect.String
	switch {
	case named && plain: // time.Duration and the like
		return short(s.String())
	case kind == reflect.Func, kind == reflect.Chan:
		return fmt.Sprintf("a %T", v)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("a %T", v)
	}
	return short(string(data))
}

func short(s string) string {
	if len(s) <= longestWords {
		return s
	}
	end := longestWords
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
