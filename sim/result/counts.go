package result

import "github.com/wavetank/wavetank/internal/story"

// FaultCount counts what became of a declared fault, over all runs of a campaign.
type FaultCount = story.FaultTotal

// ClassCount counts the injections of a fault at requests of one class: those with the same verb
// and kind.
type ClassCount = story.ClassTotal

// ObjectCount counts how the reconciles of an object that a user made ended.
type ObjectCount = story.ObjectTotal

// SiteCount counts what a line of the program sent, and the faults that were injected there.
type SiteCount = story.SiteTotal

// SourceCall is a write in the source of a program.
type SourceCall = story.SourceCall

// Story is a shrunk run as its file holds it: the choices that replay it, and what happened.
type Story = story.Story

// Finding is one cause of failures of a campaign, with its shortest story.
type Finding = story.Finding

// Probe says in how many runs a Sometimes property was true.
type Probe = story.ProbeTotal

// StrategyCount says how many runs of a campaign a strategy made, and how many of them failed.
type StrategyCount = story.StrategyTotal
