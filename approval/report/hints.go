package report

// Hint is something that the statistics suggest a person should think about.
type Hint struct {
	Kind HintKind
	// N is the number of cases, and Share the percentage of them.
	N, Share int
	// Name is the executor that the hint is about, if any.
	Name string
}

// HintKind says what a hint is about.
type HintKind string

// The kinds of hints.
const (
	// HintStrict says that people allow nearly everything they are asked.
	HintStrict HintKind = "strict"
	// HintLax says that out of many calls none was stopped.
	HintLax HintKind = "lax"
	// HintSpare says that calls of one executor were always allowed.
	HintSpare HintKind = "spare"
	// HintUnanswered says that many calls waited in vain.
	HintUnanswered HintKind = "unanswered"
	// HintHasty says that people allow without reading.
	HintHasty HintKind = "hasty"
	// HintNight says that many cards come at night.
	HintNight HintKind = "night"
)

// The numbers from which something is suggested. Smaller ones occur by chance.
const (
	hintLeast      = 20  // answers or cards
	hintSpare      = 10  // answers for one executor
	hintCalls      = 200 // calls
	strictShare    = 95  // percent of answers, allowed
	unheardShare   = 20  // percent of calls that were asked
	hastyShare     = 10  // percent of answers
	nightShare     = 20  // percent of cards
	statisticHints = 3   // executors named
)

// Hints returns what the numbers suggest, the weightiest first.
func (s *Statistics) Hints() []Hint {
	var all []Hint
	add := func(kind HintKind, part, of, least, share int) {
		if of >= least && 100*part >= share*of {
			all = append(all, Hint{Kind: kind, N: of, Share: 100 * part / of})
		}
	}
	c, f := &s.Counts, &s.Counts.Fates
	add(HintStrict, f.Allowed, f.Allowed+f.Denied, hintLeast, strictShare)
	if c.Judged >= hintCalls && c.Guard+c.Vetoed == 0 {
		all = append(all, Hint{Kind: HintLax, N: c.Judged})
	}
	spares := 0
	for i := range s.Executors {
		u := &s.Executors[i]
		if u.Name != "" && u.Fates.Allowed >= hintSpare && u.Fates.Denied == 0 && spares < statisticHints {
			all = append(all, Hint{Kind: HintSpare, N: u.Fates.Allowed, Share: 100, Name: u.Name})
			spares++
		}
	}
	add(HintUnanswered, f.Expired, f.Allowed+f.Denied+f.Expired, hintLeast, unheardShare)
	add(HintHasty, s.Delays.Hasty, s.Delays.Answers, hintLeast, hastyShare)
	add(HintNight, s.Turns.AtNight, s.Turns.Cards, hintLeast, nightShare)
	return all
}
