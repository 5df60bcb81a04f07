package templates

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/wording"
)

// phrasing is the ending of the files that translate the engine's phrases. Each language
// but English, the engine's own, has one.
const phrasing = ".phrases"

// phraseBook translates the engine's phrases into one language.
type phraseBook map[wording.Phrase]string

// Said translates what a judge says about a call into the reader's language. It translates
// said if message is its English form, and otherwise message itself if that is fixed
// wording. If there is no translation, ok is false and Said returns message unchanged.
func (t *Texts) Said(message string, said wording.Sentence) (text string, ok bool) {
	if english, _ := said.In(wording.English); english == message {
		if text, ok := t.said(said); ok {
			return text, true
		}
	}
	return t.Judged(message)
}

// Sentence translates a sentence of the engine into the reader's language, and returns what
// the sentence is about as separate parts. If the language lacks one of its phrases, ok is
// false and the sentence is in English.
func (t *Texts) Sentence(s wording.Sentence) (parts []Part, ok bool) {
	var theirs []string
	marked := s.Each(func(text string) string {
		theirs = append(theirs, text)
		return mark(len(theirs) - 1)
	})
	said, ok := t.said(marked)
	if !ok {
		said, _ = marked.In(wording.English)
	} else if t.lang == Italian {
		for i, text := range theirs {
			said = strings.ReplaceAll(said, " a "+mark(i), " "+before(text)+" "+mark(i))
		}
	}
	return split(said, theirs), ok
}

// said returns a sentence in the reader's language, with what changes in Italian where phrases meet.
func (t *Texts) said(s wording.Sentence) (string, bool) {
	said, ok := s.In(t.phrase)
	if ok && t.lang == Italian {
		said = t.agreed(articles().Replace(said))
	}
	return said, ok
}

// before returns the Italian preposition "a" as it stands before a text of the call.
func before(text string) string {
	switch {
	case dated.MatchString(text):
		return "al"
	case strings.HasPrefix(strings.ToLower(text), "a"):
		return "ad"
	default:
		return "a"
	}
}

// agreed gives an Italian adjective the end that goes with the noun behind it. A translation has all four: pubblic[o/a/i/e].
func (t *Texts) agreed(said string) string {
	return adjective.ReplaceAllStringFunc(said, func(ends string) string {
		m := adjective.FindStringSubmatch(ends)
		end := map[string]int{"la ": 1, "i ": 2, "gli ": 2, "le ": 3}[m[1]]
		if m[1] == "l’" && slices.Contains(slices.Collect(maps.Values(t.phrases)), "un’"+m[2]) {
			end = 1
		}
		return fourEnds.ReplaceAllStringFunc(ends, func(all string) string { return strings.Split(strings.Trim(all, "[]"), "/")[end] })
	})
}

// adjective matches the ends of an adjective, or of one and "tutto", and the article and the noun behind it; fourEnds the ends alone.
var (
	adjective = regexp.MustCompile(`\[\pL/\pL/\pL/\pL\] (?:tutt\[o/a/i/e\] )?(il |lo |la |l’|i |gli |le )?(\pL*)`)
	fourEnds  = regexp.MustCompile(`\[\pL/\pL/\pL/\pL\]`)
)

// dated is a text that begins with a date, which has an article in Italian.
var dated = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}`)

// articles contracts Italian prepositions with the articles that follow them where phrases
// meet: "da il team" becomes "dal team".
func articles() *strings.Replacer {
	var pairs []string
	for preposition, joined := range map[string]string{"a": "a", "da": "da", "in": "ne", "su": "su", "di": "de"} {
		for article, ending := range map[string]string{
			"il ": "l ", "lo ": "llo ", "la ": "lla ", "l’": "ll’", "i ": "i ", "gli ": "gli ", "le ": "lle ",
		} {
			pairs = append(pairs, " "+preposition+" "+article, " "+joined+ending)
		}
	}
	return strings.NewReplacer(pairs...)
}

// Phrases returns the engine's phrases that a language translates.
func (s *Set) Phrases(lang Lang) []wording.Phrase {
	said, ok := s.langs[lang]
	if !ok {
		return nil
	}
	return slices.Sorted(maps.Keys(said().phrases))
}

// phrase returns the translation of a phrase of the engine.
func (t *Texts) phrase(p wording.Phrase) (string, bool) {
	if t.lang == English {
		return wording.English(p)
	}
	said, ok := t.phrases[p]
	if words, labels := strings.CutSuffix(string(p), ": "+wording.Placeholder); !ok && labels {
		said, ok = t.label(words)
		said += ": " + wording.Placeholder
	}
	return said, ok
}

// label translates the words of a key before its value: those of a thing or a property, or of what belongs to a thing.
func (t *Texts) label(words string) (said string, ok bool) {
	for _, form := range []string{"the " + words + " " + wording.Placeholder, "the " + words, words + ": " + wording.Placeholder} {
		if said, ok = t.phrases[wording.Phrase(form)]; ok {
			return article.ReplaceAllString(strings.TrimRight(strings.TrimSuffix(said, wording.Placeholder), " :"), ""), true
		}
	}
	for at := range words {
		if words[at] != ' ' {
			continue
		}
		of, ok := t.phrases[wording.Phrase("the "+words[:at]+" "+wording.Placeholder)]
		if !ok && strings.Contains(words[:at], " ") {
			of, ok = t.label(words[:at])
		}
		if said, its := t.label(words[at+1:]); ok && its {
			return said + " di " + strings.TrimSuffix(of, " "+wording.Placeholder), true
		}
	}
	return "", false
}

// article matches the article before a noun.
var article = regexp.MustCompile(`^(il |lo |la |i |gli |le |l’)`)

// phrases reads the embedded phrases of a language.
func (c *checker) phrases(lang Lang) phraseBook {
	if lang == English {
		return nil
	}
	return c.readPhrases(builtin, lang, embeddedName)
}

// readPhrases reads a file of phrases: each English phrase is a line, and its translation
// follows on the next line after a tab.
func (c *checker) readPhrases(from fs.FS, lang Lang, prefix string) phraseBook {
	name := prefix + string(lang) + phrasing
	raw, err := fs.ReadFile(from, string(lang)+phrasing)
	switch {
	case err != nil:
		c.add(name, "cannot be read: %v", err)
		return nil
	case len(raw) > maxFile:
		c.add(name, "has %d bytes; %d are the most", len(raw), maxFile)
		return nil
	}
	p := phraseReader{checker: c, name: name, book: phraseBook{}}
	raw = bytes.TrimPrefix(raw, []byte("\xEF\xBB\xBF"))
	for line := range strings.Lines(string(raw)) {
		p.n++
		p.line(strings.TrimRight(line, "\r\n"))
	}
	p.end()
	return p.book
}

// phraseReader reads a file of phrases line by line.
type phraseReader struct {
	*checker
	name    string
	n       int
	book    phraseBook
	english string // the phrase that awaits its translation, if any
	at      int    // the line of that phrase
}

func (p *phraseReader) line(s string) {
	said, translated := strings.CutPrefix(s, "\t")
	switch {
	case strings.TrimSpace(s) == "" || s[0] == '#':
	case strings.ContainsFunc(said, unfit):
		p.add(p.where(p.n), "holds a character that cannot be seen, or is not UTF-8")
	case !translated:
		p.end()
		p.english, p.at = s, p.n
		if _, twice := p.book[wording.Phrase(s)]; twice {
			p.add(p.where(p.n), "the phrase %q stands here twice", s)
		}
	case p.english == "":
		p.add(p.where(p.n), "there is no phrase before this translation")
	default:
		p.translate(said)
	}
}

// translate stores said as the translation of the preceding phrase.
func (p *phraseReader) translate(said string) {
	want, got := strings.Count(p.english, wording.Placeholder), strings.Count(said, wording.Placeholder)
	switch {
	case strings.Count(said, "%") != got:
		p.add(p.where(p.n), "a %% stands for nothing; a thing that the phrase is about is %s", wording.Placeholder)
	case want != got:
		p.add(p.where(p.n), "%q is about %d things, its translation about %d", p.english, want, got)
	}
	p.book[wording.Phrase(p.english)], p.english = strings.TrimSpace(said), ""
}

// end finishes a phrase, which must have a translation by now.
func (p *phraseReader) end() {
	if p.english != "" {
		p.add(p.where(p.at), "the phrase %q has no translation", p.english)
	}
	p.english = ""
}

func (p *phraseReader) where(n int) string { return fmt.Sprintf("%s:%d", p.name, n) }

// overridePhrases replaces embedded phrases with those in the folder's file for lang.
func (c *checker) overridePhrases(folder fs.FS, lang Lang, book phraseBook) {
	for p, said := range c.readPhrases(folder, lang, "") {
		if _, ok := book[p]; !ok {
			c.add(string(lang)+phrasing, "there is no phrase %q", p)
			continue
		}
		book[p] = said
	}
}
