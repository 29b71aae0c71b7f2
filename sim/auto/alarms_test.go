package auto

import (
	"slices"
	"testing"
)

// Each property has a known false alarm, and each false alarm is of one of the properties.
func TestAlarmsNameProperties(t *testing.T) {
	var named []string
	for _, a := range alarms {
		if !slices.Contains(Properties(), a.property) || a.operator == "" || a.instead == "" {
			t.Errorf("%+v is of no property, or incomplete", a)
		}
		named = append(named, a.property)
	}
	for _, p := range Properties() {
		if !slices.Contains(named, p) {
			t.Errorf("%q has no row", p)
		}
	}
}

// A text is made for the patterns that definitions use, and it matches.
func TestFromPattern(t *testing.T) {
	for _, pattern := range []string{`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`, `^(\d+(ms|s|m|h))+$`, `^[A-Z]{2}-[0-9]+$`,
		`^(Always|Never)$`, `^https?://.+$`, `.*`, `^v[0-9]+((alpha|beta)[0-9]+)?$`} {
		texts := map[string]bool{}
		for variant := range variants {
			text, ok := fromPattern(pattern, variant)
			if !ok {
				t.Errorf("%s: nothing for variant %d", pattern, variant)
			}
			texts[text] = true
		}
		t.Logf("%s: %v", pattern, texts)
	}
	if text, ok := fromPattern(`a\bb`, 0); ok {
		t.Errorf("%q cannot match", text)
	}
}
