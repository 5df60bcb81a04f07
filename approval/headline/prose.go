package headline

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// mostNamed is how many items of a list are named.
const mostNamed = 3

// named names the first items of a list, each in full, and says how many more there are. To name the last
// one takes no more room than to say that there is one more.
func named(list []string) wording.Clause {
	n := mostNamed
	for n > 1 && utf8.RuneCountInString(strings.Join(list[:min(n, len(list))], ", ")) > longestThing {
		n--
	}
	if more := len(list) - n; more > 1 || more == 1 && n < mostNamed {
		return wording.Say("%s and %s more", strings.Join(list[:n], ", "), strconv.Itoa(more))
	}
	return wording.List(list)
}

// enumerated returns the names in a text under a key for several things, or several addresses or numbers: "U1,U2".
func enumerated(key string, values []string) []string {
	if len(values) != 1 {
		return values
	}
	parts := strings.Split(values[0], ",")
	thing, plural, rest := spoken.ThingOf([]string{key})
	several := thing != nil && plural && len(rest) == 0 || strings.HasSuffix(key, "ids") || strings.HasSuffix(key, "id") && numbers.MatchString(values[0])
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
		if parts[i] == "" || strings.ContainsAny(parts[i], " \t\n{}[]\"") || !several && !strings.Contains(parts[i], "@") {
			return values
		}
	}
	return parts
}

// numbers matches several numbers of things.
var numbers = regexp.MustCompile(`^\d+(, ?\d+)+$`)

// longestProse is the most characters of a text in a headline.
const longestProse = 80

// prose returns the first line of a text, cut at the end of a word.
func prose(s string) wording.Clause {
	line, rest, _ := strings.Cut(strings.TrimSpace(s), "\n")
	line = strings.TrimSpace(line)
	cut := strings.TrimSpace(rest) != ""
	if utf8.RuneCountInString(line) > longestProse {
		runes := []rune(line)
		at := strings.LastIndexByte(string(runes[:longestProse]), ' ')
		first, _, more := strings.Cut(line, " ")
		switch {
		case at > 0:
			line, cut = line[:at], true
		case utf8.RuneCountInString(first) <= longestThing: // an address or a path
			line, cut = first, cut || more
		default:
			line, cut = string(runes[:longestProse]), true
		}
	}
	if cut {
		line += " …"
	}
	return wording.Clause{Text: line}
}

// beginning returns the keys without those that say of which kind something is, or when something ends, if another one says when it begins.
func (c *call) beginning() []string {
	begins := c.first(spoken.List("texts when")...) != ""
	return slices.DeleteFunc(slices.Clone(c.keys), func(key string) bool {
		return begins && strings.HasPrefix(key, "end") || spoken.Is("things-that classes", key) || strings.HasSuffix(key, "method")
	})
}

// printed is the output of a program, where that is all that is known of a thing, or of its end.
var printed = regexp.MustCompile(`^([^$\s]*)\$\(([\w.+-]+)\)$`)

// eachPrinted is a noun with the output of a program behind it as the name.
var eachPrinted = regexp.MustCompile(`^([a-z]{3,}) \$\(([\w.+-]+)\)$`)

// spelled says of what an operation is about if only a program's output names it, and which
// machine is restarted or switched off if that is not this one.
func spelled(s wording.Sentence) wording.Sentence {
	s = slices.Clone(s)
	whole := map[wording.Phrase]wording.Phrase{"restarts the machine": "restarts %s", "switches the machine off": "switches %s off"}
	if len(s) > 1 && whole[s[0].Phrase] != "" {
		printedBy(&s[1])
		each(&s[1])
		switch s[1].Phrase {
		case "on %s":
			s = append(wording.Sentence{{Phrase: whole[s[0].Phrase], Args: s[1].Args}}, s[2:]...)
		case "on another machine":
			s = append(wording.Sentence{{Phrase: whole[s[0].Phrase], Args: []wording.Clause{{Phrase: "another machine"}}}}, s[2:]...)
		default: // anything else does not say that it is another machine
		}
	}
	if len(s) > 0 && s[0].Phrase == copying && s[0].Args[0].Text == "-" {
		s[0].Args = []wording.Clause{{Phrase: "its standard input"}, s[0].Args[1]}
	}
	return outputs(s)
}

// outputs says of each thing, or of its end, that only a program's output names it, and which
// program that is: "the branches that git prints".
func outputs(s wording.Sentence) wording.Sentence {
	s = slices.Clone(s)
	for i := range s {
		c := &s[i]
		printedBy(c)
		each(c)
		if i > 0 && strings.HasSuffix(string(s[i-1].Phrase), " below") {
			*c = here(*c)
		}
		c.Text = computed.ReplaceAllString(c.Text, "…")
		switch m := printed.FindStringSubmatch(c.Text); {
		case filter.MatchString(c.Text):
			*c = wording.Say("the machines with %s", filter.ReplaceAllString(c.Text, "$1=$2"))
		case contents.MatchString(c.Text):
			*c = wording.Say("what %s lists", contents.FindStringSubmatch(c.Text)[1])
		case listed.MatchString(c.Text):
			*c = wording.Say("%s (as %s lists it)", listed.ReplaceAllString(c.Text, "$1…$3"), listed.FindStringSubmatch(c.Text)[2])
		case eachPrinted.MatchString(c.Text):
			each := eachPrinted.FindStringSubmatch(c.Text)
			*c = wording.Say("each %s that %s prints", each[1], each[2])
		case m == nil:
			c.Args = outputs(c.Args)
		case m[1] == "":
			*c = wording.Say("what %s prints", m[2])
		default:
			*c = wording.Say("%s… (as %s prints it)", m[1], m[2])
		}
	}
	return s
}

// filter matches how a client of a cloud is told which machines are meant: by a tag and its values.
var filter = regexp.MustCompile(`^(?:Key|Name)=(?:tag:)?([\w.:/-]+),Values=(\S+)$`)

// contents matches what a file holds.
var contents = regexp.MustCompile(`^\$\(cat ([^\s()$]+)\)$`)

// listed matches a name of which only a file tells one part.
var listed = regexp.MustCompile(`^([^$]*)\$\(cat ([^\s()$]+)\)([^$]*)$`)

// intoFolder matches a phrase that ends with a folder.
var intoFolder = regexp.MustCompile(` (?:below|in|to) %s$`)

// machinesIn matches the names of several machines.
var machinesIn = regexp.MustCompile(`^[\w.@-]+(?: [\w.@-]+)+$`)

// each says of which file the text is that a clause ends with, and names machines one after the other.
func each(c *wording.Clause) {
	if last := len(c.Args) - 1; last >= 0 && intoFolder.MatchString(string(c.Phrase)) {
		c.Args = append(slices.Clone(c.Args[:last]), here(c.Args[last]))
	}
	if len(c.Args) != 1 {
		return
	}
	text := c.Args[0].Text
	switch m := contents.FindStringSubmatch(text); {
	case m != nil && strings.HasSuffix(string(c.Phrase), ": %s"):
		c.Args = []wording.Clause{wording.Say("what %s contains", m[1])}
	case m != nil && c.Phrase == "on %s":
		c.Args = []wording.Clause{wording.Say("the machines that %s lists", m[1])}
	case c.Phrase == "on %s" && machinesIn.MatchString(text):
		c.Args = []wording.Clause{wording.List(strings.Fields(text))}
	}
}

// here returns a folder, by its name or as the one in which the call works.
func here(folder wording.Clause) wording.Clause {
	if folder.Text == "." {
		return wording.Clause{Phrase: "the current folder"}
	}
	return folder
}

// computed matches what only a program's own function returns: nothing of it is in the call.
var computed = regexp.MustCompile(`\$\([\w.]*\(\)\)`)

// printedBy says of a clause about a thing with its noun which program prints its name, and of a
// machine that a program's object is connected to, that it is another one.
func printedBy(c *wording.Clause) {
	if len(c.Args) == 0 {
		return
	}
	text := c.Args[0].Text
	m := printed.FindStringSubmatch(text)
	all(c, m)
	if len(c.Args) != 1 {
		return
	}
	if nounBefore.MatchString(string(c.Phrase)) {
		processes(c, text)
		if m != nil && m[1] == "" {
			c.Phrase, c.Args = spoken.Several(c.Phrase), []wording.Clause{wording.Say("that %s prints", m[2])}
		} else if file := contents.FindStringSubmatch(text); file != nil {
			c.Args = []wording.Clause{wording.Say("that %s names", file[1])}
		}
	}
	if c.Phrase == "on %s" && strings.HasPrefix(text, "$(") && strings.HasSuffix(text, ")") && strings.Contains(text, "().") {
		*c = wording.Clause{Phrase: "on another machine"}
	}
}

// searched is the output of a program that looks for processes, with what it looks for.
var searched = regexp.MustCompile(`^\$\(([\w.+-]+) (:?)([^()]+)\)$`)

// processes says of a clause about processes which a program looks for.
func processes(c *wording.Clause, text string) {
	by := searched.FindStringSubmatch(text)
	if by == nil || by[1] == "cat" || !strings.Contains(string(c.Phrase), "the process") {
		return
	}
	chosen := map[bool]wording.Phrase{true: "that use the port %s", false: "that match %s"}
	several := strings.Replace(string(c.Phrase), "process %s", "processes %s", 1)
	c.Phrase, c.Args = wording.Phrase(several), []wording.Clause{wording.Say(chosen[by[2] != ""], by[3])}
}

// all says of a clause with a noun as in a command, such as "deletes pod %s", that it is about the things that a
// program prints, if m matched that.
func all(c *wording.Clause, m []string) {
	verb, rest, _ := strings.Cut(string(c.Phrase), " ")
	noun, rest, _ := strings.Cut(rest, " %s")
	noun, listed := strings.CutPrefix(noun, "the ")
	thing := spoken.ThingAt(strings.ReplaceAll(noun, " ", ""))
	if m == nil || m[1] != "" || thing == nil || verb == "the" || listed && rest != "" {
		return
	}
	c.Phrase, c.Args = wording.Phrase(verb+" %s"+rest), slices.Clone(c.Args)
	c.Args[0] = wording.Clause{Phrase: thing.Several, Args: []wording.Clause{wording.Say("that %s prints", m[2])}}
}

// nounBefore matches a phrase in which a noun stands before the thing: "the branch %s".
var nounBefore = regexp.MustCompile(`\bthe [a-z]+ %s`)

// longestThing is the most characters of a thing in a headline. A longer one is replaced by
// its length: half a name could be that of something else.
const longestThing = 200

// bounded replaces every thing that is too long for a headline by its length.
func bounded(s wording.Sentence) wording.Sentence {
	s = slices.Clone(s)
	for i := range s {
		c := &s[i]
		if n := utf8.RuneCountInString(c.Text); n > longestThing {
			long := wording.Phrase("a text of %s characters")
			if !strings.ContainsAny(c.Text, " \n") && strings.Contains(c.Text, "/") {
				long = "a path of %s characters"
			}
			*c = wording.Say(long, strconv.Itoa(n))
			continue
		}
		c.Args = bounded(c.Args)
	}
	return s
}

// inPlace corrects a sentence of the engine's by what it is about: several files, a file of another machine,
// several things of a cluster.
func inPlace(said wording.Sentence) wording.Sentence {
	if len(said) == 0 || len(said[0].Args) == 0 {
		return said
	}
	first := &said[0]
	switch does, what := first.Phrase, &first.Args[0]; {
	case does == unreadFile && len(said) > 1 && said[1].Phrase == "on %s": // of whose files nobody knows
		return append(wording.Sentence{{Phrase: "runs %s, which was not read,", Args: first.Args}}, said[1:]...)
	case does == "runs SQL from the file %s, which was not read, in %s" && what.Phrase == "%s files below %s":
		return append(wording.Sentence{{Phrase: "runs SQL from %s, none of which was read, in %s", Args: first.Args}}, said[1:]...)
	case what.Text == "all" && strings.HasPrefix(string(does), "deletes all %s"): // as kubectl means it
		return append(wording.Sentence{{Phrase: does, Args: slices.Concat([]wording.Clause{{Phrase: "workloads and services"}}, first.Args[1:])}}, said[1:]...)
	case inCluster.MatchString(what.Text):
		several := wording.Clause{Phrase: does, Args: slices.Concat([]wording.Clause{wording.List(strings.Fields(what.Text))}, first.Args[1:])}
		return append(wording.Sentence{several}, said[1:]...)
	}
	return said
}

// inCluster matches several things of a cluster, each with its kind.
var inCluster = regexp.MustCompile(`^[a-z][a-z.]*/[\w.-]+(?: [a-z][a-z.]*/[\w.-]+)+$`)

// typed returns a path, or the words of a command, the way the call spells them, if it does so with ~,
// with backslashes or, of what a program is given to read, from the folder in which it runs.
func (c *call) typed(thing string) string {
	words := strings.Split(thing, " ")
	for i, w := range words {
		home, windows := reading.HomeOf(w), strings.ReplaceAll(w, "/", `\`)
		folder := strings.TrimSuffix(windows, `\*`)
		below, inside := strings.CutPrefix(w, c.cwd+"/")
		switch rest := strings.TrimPrefix(w, home); {
		case strings.Contains(c.command, w):
		case inside && c.cwd != "" && (strings.Contains(c.command, "<"+below) || strings.Contains(c.command, "< "+below)):
			words[i] = below
		case home != "" && strings.Contains(c.command, "~"+rest):
			words[i] = "~" + rest
		case c.foldersOf(windows) != "":
			words[i] = c.foldersOf(windows) + w[len(c.foldersOf(windows)):]
		case strings.Contains(c.command, windows), strings.Contains(folder, `\`) && strings.Contains(c.command, folder):
			words[i] = windows
		}
	}
	return strings.Join(words, " ")
}

// stands reports whether a text holds another one, a number not just as a part of a name or of another number.
func stands(text, part string) bool {
	if strings.Trim(part, "0123456789") != "" {
		return strings.Contains(text, part)
	}
	return slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), part)
}

// untold reports whether a value says nothing to a person: it names nothing, or is masked.
func untold(s string) bool { return empty(s) || masks(s) > 0 }

// bracketed returns things one after the other in brackets, nothing if there are none.
func bracketed(things []wording.Clause) wording.Sentence {
	if len(things) == 0 {
		return nil
	}
	all := things[len(things)-1]
	for _, thing := range slices.Backward(things[:len(things)-1]) {
		all = wording.Clause{Phrase: "%s, %s", Args: []wording.Clause{thing, all}}
	}
	return wording.Sentence{{Phrase: "(%s)", Args: []wording.Clause{all}}}
}

// foldersOf returns the folders of a path on Windows that stand in the command as they are, before what another command
// prints; "" for any other path.
func (c *call) foldersOf(windows string) string {
	at := strings.Index(windows, `\$(`)
	if at <= 0 || !strings.Contains(c.command, windows[:at]) {
		return ""
	}
	return windows[:at+1]
}
