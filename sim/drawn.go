package sim

import (
	"encoding/json"
	"fmt"
	"reflect"
	"unicode/utf8"
)

// longestDrawn is how much of a drawn value a story tells.
const longestDrawn = 200

// drawn is a value for people. It must be the same in each run, so pointers are followed and never printed.
func drawn(v any) string {
	s, named := v.(fmt.Stringer)
	switch kind := reflect.ValueOf(v).Kind(); {
	case named && (reflect.Bool <= kind && kind <= reflect.Float64 || kind == reflect.String): // time.Duration and the like
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
	if len(s) <= longestDrawn {
		return s
	}
	end := longestDrawn
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
