package v2

import (
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	booksv1 "example.com/library/api/v1"
)

// ConvertTo converts this Shelf (v2) to the Hub version (v1).
func (src *Shelf) ConvertTo(dstRaw conversion.Hub) error {
	dst := dstRaw.(*booksv1.Shelf)
	dst.ObjectMeta = src.ObjectMeta
	dst.Spec.Capacity = src.Spec.Capacity
	for _, b := range src.Spec.Books {
		dst.Spec.Books = append(dst.Spec.Books, b.Title)
	}
	dst.Status = booksv1.ShelfStatus(src.Status)
	return nil
}

// ConvertFrom converts the Hub version (v1) to this Shelf (v2).
func (dst *Shelf) ConvertFrom(srcRaw conversion.Hub) error {
	src := srcRaw.(*booksv1.Shelf)
	dst.ObjectMeta = src.ObjectMeta
	dst.Spec.Capacity = src.Spec.Capacity
	for _, title := range src.Spec.Books {
		dst.Spec.Books = append(dst.Spec.Books, Book{Title: title})
	}
	dst.Status = ShelfStatus(src.Status)
	return nil
}
