// Package bundledeployment tells the story of failures that do not settle: a bundle with a
// namespace in it is refused by the server, what was made of it is undone, and the undoing is in
// the way of the next attempt. The operator is that of controllers/bundledeployment, with the real
// Helm SDK.
//
// [Begin] sets the scene: a namespace controller that takes its time, somebody who unpacks bundles
// ([Unpacker]), the operator. [Books] reads the run's history and judges it; its methods are the
// properties, one sentence each. A [Telling] is what happens, [Table] the table of which variant
// fails which question, and README.md what was observed.
//
// # What the runs showed
//
// As reported (V0) there are three attempts for each sleep once sleeps are longer than a namespace
// takes to go, and the status names the cause for a ten-thousandth of the time. What the pull
// request made of it (V1, V2) holds where namespaces go within its 30 s, and is worse than the
// fault where they take longer, up to three times that: every attempt changes the status, and the
// operator never sleeps again (103 to 187 attempts in 3,000 s, where the operator as reported makes
// 25 to 27).
//
// It is also defeated, whatever the namespace takes, by watches on the kinds of the bundle: what
// the clean-up deletes wakes its owner. That needs no second deployment. An upgrade is made in a
// process that has installed the kinds before, so a failing upgrade, undone, never comes to rest
// with any variant that undoes it, the filter of its own status events included; and each of its
// attempts leaves two records, for ever.
//
// A namespace that another controller holds by a finalizer of its own is as slow as that one: after
// a minute, longer than V1 and V2 wait, both do what the operator as reported does. V0 names the
// cause all the time there: its next attempt comes at once, adopts what is still held, and is
// refused for the cause again.
//
// A server that refuses to delete a namespace twice, as old ones did, makes it final: the uninstall
// after the second attempt fails, its record stays "uninstalling", and neither an install nor an
// upgrade gets past that, whatever is mended. The same comes of a record that could not be purged.
//
// The filter alone has a price. Where the cache trails, a repair that succeeds finds in it the
// status from before the one that failed, writes nothing, and of the status that is wrong on the
// server nobody tells it, for ever. A client that waits for its own writes closes that gap, and so
// does reading from the server, as V4 does.
//
// A deployment that is given to another provisioner is still worked on by all but V4: the predicate
// drops its events, not the timers that are under way.
//
// # What upstream ships
//
// V3: nothing is undone, and ten records are kept. It settles, says why, bounds its records, keeps
// the old version, and no worker of it waits for what it undoes. It gives up more than that. What a
// failed first install has made stays until somebody removes it, and so does what a failed upgrade
// has made that is given up. An operator that dies within an action leaves a record that is pending
// for ever, which no later attempt gets past. Where a refusal says something else each time, a time
// or a uid, each attempt is news to the status and starts the next one. And it works on for whoever
// takes the deployment over.
//
// A mended deployment is installed soon with all variants but the two that do not wait for what
// they undo: its first attempt meets what is being removed, and then it waits for the back-off of
// all failures before. A crash within the clean-up wedges for good whoever undoes; that window is 8
// ms long without the wait, and as long as the wait with it.
//
// V4 keeps what V3 keeps. It removes the remains of a first install without waiting for them, takes
// a pending record of a process whose time is over for a failed one, writes only while it holds the
// newest record, and lets the record, not the work queue, say when the next attempt is due. It goes
// on with an attempt of its own; of one whose process has died it applies the chart that is wanted
// now, which comes to the same where attempts are safe to repeat. It has four workers, because one
// failing attempt alone may take seconds while requests are slow.
package bundledeployment
