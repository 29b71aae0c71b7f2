package registry

func defaultTo[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func defaultString[T ~string](field *T, value T) {
	if *field == "" {
		*field = value
	}
}

func defaultNumber(field *int32, value int32) {
	if *field == 0 {
		*field = value
	}
}

func setLabel(labels *map[string]string, name, value string) {
	if *labels == nil {
		*labels = map[string]string{}
	}
	(*labels)[name] = value
}

// orNil makes an empty list absent, as it becomes in a real server's storage; it shows where a
// field is always encoded.
func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}
