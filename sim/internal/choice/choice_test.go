package choice

import (
	"fmt"
	"slices"
	"testing"

	"github.com/wavetank/wavetank/internal/story"
)

func TestAReplayedSequenceGivesTheSameAnswers(t *testing.T) {
	ask := func(s *Recorder) []Answer {
		for i := range 200 {
			s.Rarely(story.Label{Kind: story.Inject, Of: "Crash(op)", What: fmt.Sprint(i % 7)}, 3, 4)
			s.Pick(make([]Actor, 1+i%5))
		}
		return s.Log()
	}
	first := New(NewRandom(42))
	want := ask(first)
	second := New(Play(first.Sequence()))
	got := ask(second)
	for i := range want {
		if fmt.Sprint(want[i]) != fmt.Sprint(got[i]) {
			t.Fatalf("answer %d was %+v and is %+v", i, want[i], got[i])
		}
	}
}

func TestAPlayerNamesWhatWasNotAskedFor(t *testing.T) {
	a, b := story.Label{Kind: story.Request, What: "a"}, story.Label{Kind: story.Reply, What: "a"}
	later := Sequence{{ID: story.ID{Label: b}, Value: 1}, {ID: story.ID{Label: a, Nth: 1}, Value: 1}}
	p := Play(append(Sequence{{ID: story.ID{Label: a}, Value: 1}}, later...))
	s := New(p)
	if s.Choose(a, 2) != 1 {
		t.Error("the first choice is the default, not as recorded")
	}
	if got := p.Unused(); !slices.Equal(got, later) {
		t.Errorf("unused: %v", got)
	}
}

func crash(nth int) story.ID {
	return story.ID{Label: story.Label{Kind: story.Inject, Of: "Crash(op)", What: "before op update Pod"}, Nth: nth}
}

func lag(nth int) story.ID {
	return story.ID{Label: story.Label{Kind: story.Inject, Of: "StaleCache(30s)", What: "op MODIFIED Pod"}, Nth: nth}
}

// The failure needs two faults and a delay of at least 5; everything else must go.
func TestShrinkIsLocalMinimal(t *testing.T) {
	var sequence Sequence
	for i := range 300 {
		sequence = append(sequence, story.Choice{ID: story.ID{Label: story.Label{Kind: story.Next}, Nth: i},
			Value: 1 + i%3})
		sequence = append(sequence, story.Choice{ID: lag(i), Value: 1 + i%9})
	}
	sequence = append(sequence, story.Choice{ID: crash(2), Value: 1}, story.Choice{ID: crash(8), Value: 1})
	breaks := func(c Sequence) bool {
		m := map[story.ID]int{}
		for _, e := range c {
			m[e.ID] = e.Value
		}
		return m[crash(2)] > 0 && m[crash(8)] > 0 && m[lag(7)] >= 5
	}
	fails := func(c Sequence) Trial { return Trial{Same: breaks(c), Used: c} }
	got, runs, stopped := Shrink(sequence, fails, func() bool { return false })
	if !slices.Equal(got, Sequence{{ID: lag(7), Value: 5}, {ID: crash(2), Value: 1}, {ID: crash(8), Value: 1}}) {
		t.Errorf("shrunk to %v", got)
	}
	for i := range got {
		if without := append(append(Sequence(nil), got[:i]...), got[i+1:]...); breaks(without) {
			t.Errorf("still breaks without %v", got[i])
		}
	}
	if runs > 100 || stopped {
		t.Errorf("took %d runs, stopped %v", runs, stopped)
	}
	if _, runs, stopped := Shrink(sequence, fails, func() bool { return true }); runs > 0 || !stopped {
		t.Errorf("told to stop, it makes %d runs and says stopped %v", runs, stopped)
	}
}

// The first candidate has what the user draws and nothing else.
func TestShrinkTriesNoDisturbanceFirst(t *testing.T) {
	sequence := Sequence{{ID: story.ID{Label: story.Label{Kind: story.Draw, Of: "n"}}, Value: 7}}
	for i := range 30 {
		arm := story.ID{Label: story.Label{Kind: story.Arm, Of: fmt.Sprint("fault ", i)}}
		sequence = append(sequence, story.Choice{ID: arm, Value: 1}, story.Choice{ID: lag(i), Value: 1},
			story.Choice{ID: crash(i), Value: 1})
	}
	runs := 0
	got, _, _ := Shrink(sequence, func(c Sequence) Trial {
		runs++
		return Trial{Same: len(c) > 0 && c[0].Kind == story.Draw, Used: c}
	}, func() bool { return runs > 0 })
	if !slices.Equal(got, sequence[:1]) {
		t.Errorf("after one run %d choices are left: %v", len(got), got)
	}
}

// The first crash makes a second write, and a crash there breaks the property; so does one crash
// elsewhere, which no part of the sequence is.
func TestShrinkTriesOneDisturbanceElsewhere(t *testing.T) {
	run := func(c Sequence) Trial {
		trial := Trial{Used: c, Log: []Answer{{Point{Label: crash(1).Label, N: 2}, 0},
			{Point{Label: crash(1).Label, Nth: 5, N: 2}, 0}}}
		m := map[story.ID]int{}
		for _, e := range c {
			m[e.ID] = e.Value
		}
		trial.Same = m[crash(1)] > 0 && m[crash(2)] > 0 || m[crash(5)] > 0
		return trial
	}
	got, _, _ := Shrink(Sequence{{ID: crash(1), Value: 1}, {ID: crash(2), Value: 1}}, run, func() bool { return false })
	if !slices.Equal(got, Sequence{{ID: crash(5), Value: 1}}) {
		t.Errorf("shrunk to %v", got)
	}
}

// A crash at an earlier request that breaks the property, too, takes the place of a later one.
func TestShrinkInjectsSooner(t *testing.T) {
	run := func(c Sequence) Trial {
		return Trial{Used: c, Same: slices.ContainsFunc(c, func(e story.Choice) bool {
			return e.Label == crash(0).Label && e.Nth >= 2
		})}
	}
	got, runs, _ := Shrink(Sequence{{ID: crash(7), Value: 1}}, run, func() bool { return false })
	if !slices.Equal(got, Sequence{{ID: crash(2), Value: 1}}) || runs > 12 {
		t.Errorf("shrunk to %v in %d runs", got, runs)
	}
}

// What users do goes first, all choices of one draw together, and a disturbance that is counted
// after it moves along: the action 3 and one crash are enough, at the fifth write while all actions
// are there, and at an earlier one without.
func TestShrinkRemovesWholeDraws(t *testing.T) {
	word := func(action, n int) story.ID {
		return story.ID{Label: story.Label{Kind: story.Draw, Of: fmt.Sprint("action ", action), What: fmt.Sprint(n)}}
	}
	var sequence Sequence
	for action := range 10 {
		for n := range 3 {
			sequence = append(sequence, story.Choice{ID: word(action, n), Value: 1})
		}
	}
	sequence = append(sequence, story.Choice{ID: crash(5), Value: 1})
	run := func(c Sequence) Trial {
		m, used := map[story.ID]int{}, Sequence{}
		for _, e := range c {
			m[e.ID] = e.Value
		}
		actions := 0
		for action := range 10 {
			actions += m[word(action, 0)]
		}
		for _, e := range c { // the rest of an action is not asked for without its first word
			if e.Kind != story.Draw || m[story.ID{Label: story.Label{Kind: story.Draw, Of: e.Of, What: "0"}}] > 0 {
				used = append(used, e)
			}
		}
		return Trial{Same: m[word(3, 0)] > 0 && m[crash(actions/2)] > 0, Used: used}
	}
	got, runs, _ := Shrink(sequence, run, func() bool { return false })
	if !slices.Equal(got, Sequence{{ID: word(3, 0), Value: 1}, {ID: crash(0), Value: 1}}) || runs > 250 {
		t.Errorf("%d runs shrink to %v", runs, got)
	}
}

// Words of sim.Draw are large, and a generator looks at their last bits: here a value of 38 in the
// last six.
func TestShrinkLooksAtTheLastBitsOfWords(t *testing.T) {
	var sequence Sequence
	for i := range 40 {
		sequence = append(sequence,
			story.Choice{ID: story.ID{Label: story.Label{Kind: story.Draw, Of: "n", What: fmt.Sprint(i)}},
				Value: 1<<61 + i*7919<<20 + 61})
	}
	got, runs, stopped := Shrink(sequence, func(c Sequence) Trial {
		enough := 0
		for _, e := range c {
			if e.Value&63 >= 38 {
				enough++
			}
		}
		return Trial{Same: enough >= 2, Used: c}
	}, func() bool { return false })
	if len(got) != 2 || got[0].Value != 38 || got[1].Value != 38 {
		t.Errorf("shrunk to %v", got)
	}
	if runs > 200 || stopped {
		t.Errorf("took %d runs, stopped %v", runs, stopped)
	}
}

// A sweep tries every answer of every point where a fault can be injected, and of every point about
// time and order, each once. Sequence k is always the same.
func TestASweepLeavesNothingOut(t *testing.T) {
	var log []Answer
	points := []Point{
		{Label: crash(0).Label, N: 2}, {Label: lag(0).Label, N: 8}, {Label: story.Label{Kind: story.Request}, N: 6},
		{Label: story.Label{Kind: story.Step, What: "actor key"}, N: 6},
	}
	for i := range 12 {
		for _, p := range points {
			p.Nth = i
			log = append(log, Answer{p, 0})
		}
	}
	armed := Sequence{{ID: story.ID{Label: story.Label{Kind: story.Arm, Of: "Crash", What: "(op)"}}, Value: 2}}
	s, other := NewSweep(armed, log), NewSweep(armed, log)
	tried := map[string]bool{}
	for k := 0; ; k++ {
		sequence, more := s.At(k)
		if !more {
			break
		}
		if same, _ := other.At(k); len(sequence) != 2 || tried[sequence.key()] || same.key() != sequence.key() {
			t.Fatalf("sequence %d is %v", k, sequence)
		}
		tried[sequence.key()] = true
	}
	if want := 12 * (1 + 7 + 5 + 5); len(tried) != want {
		t.Errorf("%d sequences, want %d", len(tried), want)
	}
	if _, more := NewSweep(nil, nil).At(0); more {
		t.Error("where nothing can be disturbed there is a sequence")
	}
}

// A burst injects faults in one part of the run, several times of one sort, and is as its base
// everywhere else.
func TestABurstIsInOnePlace(t *testing.T) {
	var log []Answer
	for i := range 400 {
		p := Point{Label: crash(0).Label, Nth: i / 2, N: 2}
		if i%2 == 0 {
			p = Point{Label: lag(0).Label, Nth: i / 2, N: 8}
		}
		log = append(log, Answer{p, 0})
	}
	base := Sequence{{ID: lag(0), Value: 3}, {ID: lag(199), Value: 5}}
	several, both, kept := 0, 0, 0
	for seed := range uint64(300) {
		o := NewBurst(seed, NewBase(base, log))
		var at []int
		of := map[string]int{}
		for i, a := range log {
			v := o.Choose(a.Point)
			switch id := a.ID(); {
			case id == lag(0) && v == 3 || id == lag(199) && v == 5:
				kept++
			case v > 0:
				at, of[id.Of] = append(at, i), of[id.Of]+1
			}
		}
		if len(at) > 0 && at[len(at)-1]-at[0] >= 32 {
			t.Fatalf("seed %d: faults at %v", seed, at)
		}
		if len(at) > 1 {
			several++
		}
		if len(of) > 1 {
			both++
		}
	}
	if several < 100 || both < 50 || kept < 500 {
		t.Errorf("of 300 bursts %d inject several faults and %d two sorts; %d of 600 choices are as in the base",
			several, both, kept)
	}
}

// A swarm's runs differ in their odds: some never inject a fault, some nearly always do.
func TestASwarmDiffers(t *testing.T) {
	never, often := 0, 0
	for seed := range uint64(200) {
		struck := 0
		for i, o := 0, NewSwarm(seed); i < 60; i++ {
			if o.Choose(Point{Label: crash(0).Label, Nth: i, N: 2}) > 0 {
				struck++
			}
		}
		if struck == 0 {
			never++
		}
		if struck > 20 {
			often++
		}
	}
	if never < 20 || often < 10 {
		t.Errorf("of 200 runs %d inject no fault and %d inject many", never, often)
	}
}

// Who is slow in a burst is one worker or a whole program, and it is late as well as last.
func TestABurstMakesLate(t *testing.T) {
	actors := []Actor{{"clerk/1", "clerk default/a"}, {"clerk/1", "clerk default/b"}, {"user/1", "at /api"}}
	base := NewBase(nil, []Answer{{Point{Label: story.Label{Kind: story.Next}, N: 3}, 0}})
	one, all := 0, 0
	for seed := range uint64(400) {
		o := NewBurst(seed, base)
		o.Choose(Point{Label: story.Label{Kind: story.Next}, N: 3, Actors: actors})
		var late [3]bool
		for i := range actors {
			reply := Point{Label: story.Label{Kind: story.Reply, What: "x"}, N: 6, Odds: 1 << 30,
				Actors: actors[i : i+1]}
			late[i] = o.Choose(reply) >= 4
		}
		switch late {
		case [3]bool{true, true, false}:
			all++
		case [3]bool{true, false, false}, [3]bool{false, true, false}:
			one++
		}
	}
	if one < 40 || all < 40 {
		t.Errorf("of 400 runs %d make one worker late and %d both", one, all)
	}
}

// Walks inject about as many faults in a very long world as in a long one, and the same as ever in
// a short one.
func TestWalksInjectFewerFaultsInLongWorlds(t *testing.T) {
	injected := func(world int, walk func(seed uint64, b *Base) Source) (mean int) {
		var log []Answer
		for i := range world {
			log = append(log, Answer{Point{Label: crash(i).Label, Nth: i, N: 2, Odds: 12}, 0})
		}
		const runs = 200
		for seed := range uint64(runs) {
			o := walk(seed, NewBase(nil, log))
			for _, a := range log {
				mean += o.Choose(a.Point)
			}
		}
		return mean / runs
	}
	random := func(seed uint64, b *Base) Source { return NewRandom(seed).In(b) }
	swarm := func(seed uint64, b *Base) Source { return NewSwarm(seed).In(b) }
	plain := func(seed uint64, _ *Base) Source { return NewRandom(seed) }
	if a, b := injected(400, random), injected(400, plain); a != b {
		t.Errorf("%d faults in a short world; without its base %d", a, b)
	}
	if n := injected(20000, random); n < 20 || n > 80 {
		t.Errorf("a random walk injects %d faults at 20000 opportunities", n)
	}
	if n := injected(20000, swarm); n < 20 || n > 120 {
		t.Errorf("a swarm run injects %d faults at 20000 opportunities", n)
	}
}
