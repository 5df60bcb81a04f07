package effects

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/wording"
)

// sentence says an effect to a person who is woken by it: what, to what, can
// it be undone, who is affected.
func (e Effect) sentence() wording.Sentence {
	why := e.Why
	if why == nil {
		why = plainly(e.Kind, e.Target)
	}
	why = why.Each(oneLine).Trimmed(" :")
	if e.Kind == KindRead {
		return why.And(".")
	}
	why = why.Shortened(longest, clip)
	if e.Kind == KindUnknown {
		return append(why, wording.Clause{Phrase: "; what it would do is not known."})
	}
	why = append(why, wording.Clause{Phrase: undone(e.Reversibility)}, wording.Clause{Phrase: touched(e.Reach, e.Kind)})
	if e.Sure < 0.5 {
		why = append(why, wording.Clause{Phrase: wording.AsFarAsRead})
	}
	return append(why, wording.Clause{Phrase: "."})
}

// deletes is the verb of every deletion; what is like one has its own instead.
const deletes wording.Phrase = "deletes"

func deletion(of wording.Phrase, text string) wording.Sentence {
	return wording.Sentence{{Phrase: deletes}, wording.Say(of, text)}
}

// insteadOfDeletes is a sentence with another verb if it says a deletion.
func insteadOfDeletes(s wording.Sentence, verb wording.Phrase) wording.Sentence {
	if s[0].Phrase != deletes {
		return s
	}
	s = slices.Clone(s)
	s[0].Phrase = verb
	return s
}

func forcePush(to string) wording.Sentence {
	remote, refs, _ := strings.Cut(to, " ")
	return map[bool]wording.Sentence{true: say("force-pushes %s to %s", refs, remote), false: say("force-pushes to the remote %s", to)}[refs != ""]
}

// undone says whether an effect can be undone.
func undone(v Reversibility) wording.Phrase {
	switch v {
	case Reversible:
		return "; it can be undone,"
	case Partial:
		return "; it can be undone only in part,"
	case Irreversible:
	}
	return "; it cannot be undone,"
}

// touched says whom or what an effect reaches.
func touched(r Reach, k Kind) wording.Phrase {
	switch r {
	case ReachWorkspace:
		return "and touches the workspace only"
	case ReachUser:
		return "and touches more than the workspace"
	case ReachSystem:
		return "and touches the whole machine"
	case ReachShared:
		return "and others are affected"
	case ReachPublic:
	}
	if k == KindDatabase {
		return "and everyone who uses it is affected"
	}
	return "and it leaves for the outside world"
}

// longest bounds, in bytes, what a sentence says an effect does.
const longest = 240

// oneLine is a text on one line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}

// clip shortens a text to n bytes at a word's end.
func clip(s string, n int) string {
	if s = oneLine(s); len(s) <= n {
		return s
	}
	cut := strings.LastIndexByte(s[:n], ' ')
	if cut < n/2 {
		cut = n
		for cut > 0 && s[cut]&0xC0 == 0x80 {
			cut--
		}
	}
	return s[:cut] + " …"
}
