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
		operator: "The state lists or counts what happened: a log of transitions, a number of starts.",
		instead:  "Switch it off, and declare property.CrashSafe for the kinds that should be alike."},
	{property: "same end state",
		operator: "An object is kept or not by design, depending on how far its owner had come.",
		instead:  "The same. Runs in which users do not wait for the operator are not compared."},
	{property: "same end state",
		operator: "Two objects wait for one thing, and who asks first when it is free gets it.",
		instead:  "Switch it off, and declare property.CrashSafe for the kinds that do not say who has it."},
	{property: "no writes at rest",
		operator: "A status has the time of the last look, so a restart writes it.",
		instead:  "Switch it off. A periodic write by RequeueAfter is allowed."},
	{property: "no writes at rest",
		operator: "Drift is repaired by the next reconcile only, as predicates drop the event of another user's edit.",
		instead:  "Switch it off, or let the predicate pass the event."},
	{property: "nothing outlives its owner",
		operator: "A child is kept by a finalizer that no program under test removes.",
		instead:  "Start the controller whose finalizer it is, or switch it off."},
	{property: "status names what exists",
		operator: "A child is created once. A user who deletes it wants it gone, and the status keeps its name.",
		instead:  "Switch it off."},
	{property: "observedGeneration is up to date",
		operator: "Some objects are left alone: a paused one, or one of another class.",
		instead:  "Switch it off, and declare property.ObservedGeneration for the kinds that are always observed."},
	{property: "same effects",
		operator: "The key of an effect has a time in it.",
		instead:  "Switch it off, or give the effect a key that two runs share."},
	{property: "no writes at rest",
		operator: "A program repeats an effect at each start, as what it has done is recorded nowhere.",
		instead:  "Switch it off, if the other side can live with repetitions."},
	{property: "no effect twice",
		operator: "What is sent to the outside may arrive twice, as the receiver can live with repetitions.",
		instead:  "Switch it off, or let the model ignore what it has had: then a repetition is no effect."},
	{property: "fields of others stay",
		operator: "A program owns an object as a whole and removes what others add to it, without looking first.",
		instead:  "Switch it off, and declare property.NoLostField for the kinds that have other writers."},
	{property: "nothing is left",
		operator: "Some objects are kept when their owner goes, such as backups.",
		instead:  "Name their kinds by auto.Keeps. Claims of storage and volumes are left out by themselves."},
	{property: "ready means done",
		operator: "Something that is not part of being ready is done after the status says so.",
		instead:  "Switch it off."},
	{property: "same end state in any order",
		operator: "Who comes first gets what two objects want, and the other gets nothing: a lock, the last free port.",
		instead:  "Switch it off, or have one object name the other in the sample."},
	{property: "every object reconciles",
		operator: "A sample shows what the operator refuses with an error, for ever.",
		instead:  "Take the sample out, or switch it off."},
}
