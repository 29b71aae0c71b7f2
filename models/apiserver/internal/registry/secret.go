package registry

import (
	"crypto/tls"
	"encoding/json"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// Its strategy follows pkg/registry/core/secret, pkg/apis/core/v1/defaults.go and
// pkg/apis/core/validation.
var secretKind = builtin{
	group: "", version: "v1", kind: "Secret", plural: "secrets",
	object: func() runtime.Object { return &corev1.Secret{} },
	strategy: strategy{
		Unconditional: true,
		defaults: on(func(s *corev1.Secret) {
			// stringData is write-only: conversion to the internal type folds it into data
			// (pkg/apis/core/v1/conversion.go).
			for key, value := range s.StringData {
				if s.Data == nil {
					s.Data = map[string][]byte{}
				}
				s.Data[key] = []byte(value)
			}
			s.StringData = nil
			if s.Type == "" {
				s.Type = corev1.SecretTypeOpaque
			}
		}),
		prepareUpdate: func(_ Write, o, old runtime.Object) {
			if s := o.(*corev1.Secret); s.Type == "" {
				s.Type = old.(*corev1.Secret).Type
			}
		},
		Validate: checks(validateSecret),
		validateUpdate: compares(func(s, old *corev1.Secret) field.ErrorList {
			errs := apivalidation.ValidateImmutableField(s.Type, old.Type, field.NewPath("type"))
			if old.Immutable == nil || !*old.Immutable {
				return errs
			}
			if s.Immutable == nil || !*s.Immutable {
				errs = append(errs, immutable("immutable"))
			}
			if !reflect.DeepEqual(s.Data, old.Data) {
				errs = append(errs, immutable("data"))
			}
			return errs
		}),
		warnings: func(o runtime.Object) []string {
			s := o.(*corev1.Secret)
			if s.Type != corev1.SecretTypeTLS {
				return nil
			}
			if _, err := tls.X509KeyPair(s.Data[corev1.TLSCertKey], s.Data[corev1.TLSPrivateKeyKey]); err != nil {
				return []string{err.Error()}
			}
			return nil
		},
	},
	fields: secretFields,
	columns: &columns{
		shown: []metav1.TableColumnDefinition{textColumn("Type", about(corev1.Secret{}, "type")),
			textColumn("Data", about(corev1.Secret{}, "data"))},
		cells: func(o runtime.Object) ([]any, []any) {
			s := o.(*corev1.Secret)
			return []any{string(s.Type), len(s.Data)}, nil
		},
	},
}

var secretFields = map[string]func(*object.Object) string{
	"type": selects(func(s *corev1.Secret) string { return string(s.Type) }),
}

func validateSecret(s *corev1.Secret) field.ErrorList {
	var errs field.ErrorList
	data := field.NewPath("data")
	size := 0
	for _, key := range sortedKeys(s.Data) {
		errs = append(errs, invalid(data.Key(key), key, validation.IsConfigMapKey(key))...)
		size += len(s.Data[key])
	}
	if size > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(data, "", corev1.MaxSecretSize))
	}
	return append(errs, secretTypeErrors(s, data)...)
}

func secretTypeErrors(s *corev1.Secret, data *field.Path) field.ErrorList {
	requires := func(keys ...string) (errs field.ErrorList) {
		for _, key := range keys {
			if _, ok := s.Data[key]; !ok {
				errs = append(errs, field.Required(data.Key(key), ""))
			}
		}
		return errs
	}
	switch s.Type {
	case corev1.SecretTypeServiceAccountToken:
		if s.Annotations[corev1.ServiceAccountNameKey] == "" {
			account := metadataPath.Child("annotations").Key(corev1.ServiceAccountNameKey)
			return field.ErrorList{field.Required(account, "")}
		}
	case corev1.SecretTypeDockercfg:
		return append(requires(corev1.DockerConfigKey), jsonErrors(s, data, corev1.DockerConfigKey)...)
	case corev1.SecretTypeDockerConfigJson:
		return append(requires(corev1.DockerConfigJsonKey), jsonErrors(s, data, corev1.DockerConfigJsonKey)...)
	case corev1.SecretTypeBasicAuth:
		if errs := requires(corev1.BasicAuthUsernameKey, corev1.BasicAuthPasswordKey); len(errs) == 2 {
			return errs
		}
	case corev1.SecretTypeSSHAuth:
		if len(s.Data[corev1.SSHAuthPrivateKey]) == 0 {
			return field.ErrorList{field.Required(data.Key(corev1.SSHAuthPrivateKey), "")}
		}
	case corev1.SecretTypeTLS:
		return requires(corev1.TLSCertKey, corev1.TLSPrivateKeyKey)
	}
	return nil
}

func jsonErrors(s *corev1.Secret, data *field.Path, key string) field.ErrorList {
	raw, ok := s.Data[key]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, &map[string]any{}); err != nil {
		return field.ErrorList{field.Invalid(data.Key(key), "<secret contents redacted>", err.Error())}
	}
	return nil
}
