package apiserver

// The strategies whose rules are flags alone. Those with behaviour have files of their own.
var (
	serviceAccountStrategy = builtin{unconditional: true, returnsDeleted: true, unmodelled: []string{"token"}}
	quotaStrategy          = builtin{unconditional: true, status: true, returnsDeleted: true}

	volumeAttachmentStrategy = builtin{status: true, returnsDeleted: true}

	runtimeClassStrategy = builtin{createOnUpdate: true}
)
