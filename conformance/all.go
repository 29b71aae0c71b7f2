package conformance

// The table itself: areas in the order in which they are best read.

import "slices"

// Rows are all rows of the table.
func Rows() []Row {
	return slices.Concat(rowsDiscovery, rowsRead, rowsWatch, rowsCreate, rowsUpdate, rowsPatch, rowsDelete,
		rowsMetadata, rowsSubresources, rowsBinding, rowsOptions, rowsBuiltins, rowsCustom, rowsApply, rowsSchema,
		rowsRBAC, rowsAdmission, rowsWebhookResults, rowsClients, rowsNamespace, rowsOwnership)
}
