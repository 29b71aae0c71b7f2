package object

import (
	"encoding/binary"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// protobufMark is what bodies in protobuf start with (apimachinery's
// pkg/runtime/serializer/protobuf).
const protobufMark = "k8s\x00"

// Protobuf is the object as a body in protobuf, encoded at most once. It is nil if the view has no
// such form: only built-in types have one.
func (e *Encoded) Protobuf() []byte {
	if e.protobufBody == nil {
		if raw := e.encodeProtobuf(); raw != nil {
			v := e.view.Version
			e.protobufBody = protobufBody(v.APIVersion(), v.Type.Kind, len(raw), func(b []byte) []byte {
				return append(b, raw...)
			})
		}
	}
	return e.protobufBody
}

// ProtobufList is a list of objects as a body in protobuf; nil if one of them has no such form. All
// lists of built-in types have metadata as field 1 and items as field 2.
func ProtobufList(apiVersion, kind string, meta *metav1.ListMeta, items []*Encoded) []byte {
	header, err := meta.Marshal()
	if err != nil {
		return nil
	}
	size := sizeOfBytes(len(header))
	for _, e := range items {
		if e.protobufItem == nil {
			e.protobufItem = e.encodeProtobuf()
		}
		if e.protobufItem == nil {
			return nil
		}
		size += sizeOfBytes(len(e.protobufItem))
	}
	return protobufBody(apiVersion, kind, size, func(b []byte) []byte {
		b = append(appendTag(b, 1, len(header)), header...)
		for _, e := range items {
			b = append(appendTag(b, 2, len(e.protobufItem)), e.protobufItem...)
		}
		return b
	})
}

// encodeProtobuf is the object without its type.
func (e *Encoded) encodeProtobuf() []byte {
	if e.view.Partial || e.of.Typed == nil {
		return nil
	}
	typed, ok := e.view.Version.shown(e.of).Typed.(interface{ Marshal() ([]byte, error) })
	if !ok {
		return nil
	}
	raw, err := typed.Marshal()
	if err != nil {
		return nil
	}
	return raw
}

// protobufBody is an object of that size with its type, as a runtime.Unknown. The object is written
// in place.
func protobufBody(apiVersion, kind string, size int, write func([]byte) []byte) []byte {
	typeMeta := runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}
	header, err := typeMeta.Marshal()
	if err != nil {
		return nil
	}
	const noEncoding = "\x1a\x00\x22\x00" // contentEncoding and contentType, which are empty
	b := make([]byte, 0, len(protobufMark)+sizeOfBytes(len(header))+sizeOfBytes(size)+len(noEncoding))
	b = append(appendTag(append(b, protobufMark...), 1, len(header)), header...)
	return append(write(appendTag(b, 2, size)), noEncoding...)
}

// appendTag writes what precedes a field of bytes.
func appendTag(b []byte, field byte, size int) []byte {
	return binary.AppendUvarint(append(b, field<<3|2), uint64(size))
}

// sizeOfBytes is the size of a field of bytes.
func sizeOfBytes(n int) int {
	var room [binary.MaxVarintLen64]byte
	return 1 + binary.PutUvarint(room[:], uint64(n)) + n
}
