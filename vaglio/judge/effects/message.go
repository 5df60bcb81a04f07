package effects

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/commands"
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
	why = append(slices.Grow(why, 4), wording.Clause{Phrase: undone(e.Reversibility)}, wording.Clause{Phrase: touched(e.Reach, e.Kind)})
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

// insteadOfDeletes gives deletions another verb.
func insteadOfDeletes(list []Effect, verb wording.Phrase) []Effect {
	for i := range list {
		if list[i].Why[0].Phrase == deletes {
			list[i].Why = slices.Clone(list[i].Why)
			list[i].Why[0].Phrase = verb
		}
	}
	return list
}

// pushed says what a push does to what pushTarget names.
func pushed(to string, force bool) wording.Sentence {
	switch remote, refs, named := strings.Cut(to, " "); {
	case !named && force:
		return say("force-pushes to the remote %s", to)
	case !named:
		return say("pushes to the remote %s", to)
	case force:
		return say("force-pushes %s to %s", refs, remote)
	default:
		return say("pushes %s to %s", refs, remote)
	}
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

// oneLine is a text on one line, which shows where others ended.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, strings.ReplaceAll(s, "\n", "⏎"))
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

// worded is a table's message about what value gives for each thing in it; nil
// without a message.
func worded(message string, value func(of string) string) wording.Sentence {
	if message == "" {
		return nil
	}
	phrase, of := phraseFrom(message)
	about := make([]string, len(of))
	for i := range of {
		about[i] = value(of[i])
	}
	return say(phrase, about...)
}

// phraseFrom is the phrase of a table's message, and what each thing is that it is
// about: "" for the target, "=" for the operands behind those that were matched, a
// digit for one of them, "^" for those that were, "!" for the word that a test found,
// "#" for the program, "&" for all operands, "+" for both, "*" for the whole command, or
// options and their value.
func phraseFrom(message string) (wording.Phrase, []string) {
	var b strings.Builder
	var of []string
	for {
		before, after, found := strings.Cut(message, "%")
		b.WriteString(before)
		if !found {
			return wording.Phrase(b.String()), of
		}
		b.WriteString(wording.Placeholder)
		what := ""
		switch {
		case after != "" && strings.Contains("*=^!#+&0123456789", after[:1]):
			what, after = after[:1], after[1:]
		case strings.HasPrefix(after, "("):
			what, after, _ = strings.Cut(after[1:], ")")
		}
		message, of = after, append(of, what)
	}
}

// tabled is what a table says an effect does of which nothing more is known.
func tabled(o commands.Outcome) wording.Sentence {
	if o.Why == "" {
		return say(phraseOf(o.Kind))
	}
	return worded(o.Why, func(string) string { return "" })
}
