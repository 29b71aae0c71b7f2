package auto

// alarm is a kind of operator for which a property reports intended behaviour.
type alarm struct {
	property string
	operator string
	instead  string // what to do
}

// alarms are the false alarms that are known. The page docs/properties.md shows them.
var alarms = []alarm{
	{property: "same end state",
		operator: "The state is a record of what happened: a log of transitions, or a number of starts.",
		instead:  "Switch it off, and declare property.CrashSafe for the kinds that should be alike."},
	{property: "same end state",
		operator: "By design, the operator keeps or deletes an object, depending on the progress of its owner.",
		instead: "Switch it off, and declare property.CrashSafe for the kinds that should be alike. Runs in which " +
			"users do not wait for the operator are not compared."},
	{property: "same end state",
		operator: "Two objects wait for one resource. The one that asks first when it is free gets it.",
		instead: "Switch it off, and declare property.CrashSafe for the kinds that do not name the holder of the " +
			"resource."},
	{property: "no writes at rest",
		operator: "A status has the time of the last check, so a restart writes it.",
		instead:  "Switch it off. A periodic write by RequeueAfter is allowed."},
	{property: "no writes at rest",
		operator: "Predicates drop the event of another user's edit, so only the next reconcile repairs the drift.",
		instead:  "Switch it off, or let the predicate pass the event."},
	{property: "nothing outlives its owner",
		operator: "A child has a finalizer that no program under test removes.",
		instead:  "Start the controller that owns the finalizer, or switch it off."},
	{property: "status names what exists",
		operator: "A child is created only once. A user may delete it for good, and the status keeps its name.",
		instead:  "Switch it off."},
	{property: "observedGeneration is up to date",
		operator: "The operator ignores some objects: a paused one, one of another class, or one whose work is done.",
		instead:  "Switch it off, and declare property.ObservedGeneration for the kinds that are always observed."},
	{property: "same effects",
		operator: "The key of an effect contains a time.",
		instead:  "Switch it off, or give the effect a key that two runs share."},
	{property: "no writes at rest",
		operator: "A program repeats an effect at each start, because it keeps no record of the effect.",
		instead:  "Switch it off, if the other side tolerates repetitions."},
	{property: "no effect twice",
		operator: "A request to an outside service may arrive twice, because the receiver tolerates repetitions.",
		instead:  "Switch it off, or let the model ignore a request that it has had. A repetition is then no effect."},
	{property: "fields of others stay",
		operator: "A program owns a whole object, and removes additions of others without reading them first.",
		instead:  "Switch it off, and declare property.NoLostField for the kinds that have other writers."},
	{property: "nothing is left",
		operator: "Some objects are kept when their owner is deleted, such as backups.",
		instead:  "Name their kinds with auto.Keeps. Claims of storage and volumes are always left out."},
	{property: "ready means done",
		operator: "The operator reports an object as ready before it does work that being ready does not include.",
		instead:  "Switch it off."},
	{property: "same end state in any order",
		operator: "Only the first of two objects gets a resource, such as a lock or the last free port.",
		instead:  "Switch it off, or have one object name the other in the sample."},
	{property: "nothing is deleted and made again",
		operator: "By design, the operator replaces an object after a failure, such as a Job that it begins again.",
		instead:  "Switch it off."},
	{property: "every object reconciles",
		operator: "A sample is an example of input that the operator always refuses with an error.",
		instead:  "Remove the sample, or switch the property off."},
}
