package visible

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// scripts are the scripts of the letters of one word.
type scripts struct {
	// letters counts the letters of each script.
	letters []scriptCount
	// main is the script that readers see the word as.
	main string
	// whole says that the word is entirely in one script other than Latin, and every letter
	// of it looks Latin.
	whole bool
}

// scriptCount is how many letters belong to a script.
type scriptCount struct {
	script string
	count  int
}

func (s *scripts) add(script string) {
	for i := range s.letters {
		if s.letters[i].script == script {
			s.letters[i].count++
			return
		}
	}
	s.letters = append(s.letters, scriptCount{script, 1})
}

func (s *scripts) count(script string) int {
	for _, l := range s.letters {
		if l.script == script {
			return l.count
		}
	}
	return 0
}

const (
	latin  = "Latin"
	common = "Common"
)

// scriptsOf analyses a word. Its main script is Latin if at least half of its letters are
// Latin, else the script of most of its letters.
func scriptsOf(word string) scripts {
	var s scripts
	total, distinct := 0, false
	for _, c := range word {
		if script, counts := lettersScript(c); counts {
			s.add(script)
			total++
			distinct = distinct || !looksLatin(c)
		}
	}
	s.whole = !distinct && s.count(latin) == 0
	if s.count(latin)*2 >= total {
		s.main = latin
		return s
	}
	most := slices.MaxFunc(s.letters, func(a, b scriptCount) int {
		return cmp.Or(cmp.Compare(a.count, b.count), strings.Compare(b.script, a.script))
	})
	s.main = most.script
	return s
}

// lettersScript returns the script of a character, and whether it counts towards the script
// of its word. Marks, ASCII digits and letters shared by several scripts do not; digits
// shared by several scripts do.
func lettersScript(c rune) (script string, counts bool) {
	if unicode.IsMark(c) || c < utf8.RuneSelf && unicode.IsDigit(c) {
		return "", false
	}
	script = scriptOf(c)
	return script, script != common || unicode.IsDigit(c)
}

// misleads reports whether the letter is easily mistaken for another in its word: it
// belongs to another script than the rest, or the whole word looks Latin without being so.
func (s *scripts) misleads(c rune) bool {
	script, counts := lettersScript(c)
	switch {
	case !counts:
		return false
	case s.whole:
		return true
	default:
		return s.mixed() && (script != s.main || s.main != latin && looksLatin(c))
	}
}

// mixed reports whether the word mixes scripts that no language mixes. Chinese, Japanese
// and Korean use several, and include Latin letters.
func (s *scripts) mixed() bool {
	several, foreign := 0, false
	for _, l := range s.letters {
		switch l.script {
		case common:
			continue
		case latin, "Han", "Hiragana", "Katakana", "Hangul", "Bopomofo":
		default:
			foreign = true
		}
		several++
	}
	return several > 1 && foreign || s.count(common) > 0 && s.count(latin) > 0
}

func (s *scripts) note(c rune) string {
	if s.whole {
		return "in a " + scriptOf(c) + " word that looks Latin: " + nameOf(c)
	}
	return scriptOf(c) + " in a " + s.main + " word: " + nameOf(c)
}

// scriptOf names the script of a letter. It tries the most frequent scripts first; every
// character belongs to only one.
func scriptOf(c rune) string {
	if c < utf8.RuneSelf {
		return latin
	}
	for _, name := range [...]string{latin, "Cyrillic", "Greek", "Han", "Hiragana", "Katakana", "Hangul", "Arabic", "Hebrew", "Devanagari", "Thai", common} {
		if unicode.Is(unicode.Scripts[name], c) {
			return name
		}
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, c) {
			return name
		}
	}
	return "unknown"
}

const (
	openMark, closeMark = '⟨', '⟩'
	brailleBlank        = 0x2800
)

// unseen reports whether a character is invisible, or may be: controls, format characters,
// everything that Unicode lets a display ignore, spaces other than the ordinary one, and
// characters without a fixed look, which are private or unassigned.
func unseen(c rune) bool {
	switch {
	case c == ' ':
		return false
	case c == brailleBlank || c == 0xFFFC || c == utf8.RuneError:
		return true
	case unicode.In(c, unicode.C, unicode.Z, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return true
	default:
		return !unicode.In(c, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S)
	}
}

func unseenNote(c rune) string {
	name := nameOf(c)
	switch {
	case unicode.Is(unicode.Cc, c):
		return "control character" + controlName(c)
	case unicode.Is(unicode.Co, c):
		return "private use: every font shows it differently"
	case strings.HasPrefix(name, "<") || name == "":
		return "unassigned character"
	case unicode.In(c, unicode.Z) || c == brailleBlank:
		return "unusual space: " + name
	case unicode.IsLetter(c) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c):
		return "letter that melts into the one before: " + name
	case unicode.IsMark(c) && !unicode.Is(unicode.Variation_Selector, c):
		return "combining mark: " + name
	default:
		return "invisible: " + name
	}
}

func controlName(c rune) string {
	switch c {
	case 0:
		return ": NULL"
	case 0x07:
		return ": BELL"
	case 0x08:
		return ": BACKSPACE"
	case '\r':
		return ": CARRIAGE RETURN"
	case 0x1B:
		return ": ESCAPE"
	case 0x7F:
		return ": DELETE"
	default:
		return ""
	}
}

// inWord reports whether a character belongs to a word whose scripts are read together.
func inWord(c rune) bool {
	if c < utf8.RuneSelf {
		return isASCIIWord(byte(c)) //nolint:gosec // It was just found to be ASCII.
	}
	return (unicode.IsLetter(c) || unicode.IsMark(c) || unicode.IsDigit(c)) && !unseen(c)
}

// belongs reports whether a combining character is normal writing after the base: both
// belong to a script that writes with marks. It is not after Latin, Greek and Cyrillic
// letters, whose usual marks are part of the letter: what one font draws as a letter with a
// mark, another draws as the bare letter.
func belongs(base, mark rune) bool {
	switch script := scriptOf(base); script {
	case latin, "Greek", "Cyrillic", common, "Inherited", "unknown":
		return false
	default:
		return unicode.In(mark, unicode.Scripts[script], unicode.Inherited)
	}
}

// misleading reports whether a character is easily mistaken for another wherever it occurs:
// Unicode considers it another form of the same character, or it looks like an ASCII
// character.
func misleading(c rune) bool {
	if c < utf8.RuneSelf {
		return false
	}
	return drawnLikeASCII(c) || otherForm(c) != ""
}

func misleadingNote(c rune) string {
	note := "easily taken for another character: " + nameOf(c)
	if other := otherForm(c); other != "" && !strings.ContainsFunc(other, unseen) {
		return note + ", another form of " + other
	}
	return note
}

// otherForm returns the character's compatibility form if the two look alike, or "".
func otherForm(c rune) string {
	var buffer [utf8.UTFMax]byte
	form := norm.NFKC.Properties(utf8.AppendRune(buffer[:0], c)).Decomposition()
	if form == nil {
		return ""
	}
	text := string(c)
	if norm.NFKC.IsNormalString(text) || norm.NFC.IsNormalString(text) && distinctForm(c) {
		return ""
	}
	return norm.NFKC.String(text)
}

// distinctForm reports whether a compatibility character looks so different from its plain
// form that nobody confuses them: superscripts and subscripts, fractions, circled and
// squared characters, the ellipsis.
func distinctForm(c rune) bool {
	switch c {
	case 0xA8, 0xAA, 0xAF, 0xB2, 0xB3, 0xB9, 0xBA, 0xBC, 0xBD, 0xBE, 0x2026, 0x2103, 0x2109, 0x2116, 0x2120, 0x2121, 0x2122, 0x213B, 0x2189:
		return true
	}
	between := func(from, to rune) bool { return from <= c && c <= to }
	return between(0x2B0, 0x2B8) || between(0x2D8, 0x2DD) || between(0x2E0, 0x2E4) || between(0x1D2C, 0x1D6A) ||
		between(0x1D9B, 0x1DBF) || between(0x2070, 0x209C) || between(0x2150, 0x215F) || between(0x2460, 0x24FF) ||
		between(0x3200, 0x33FF) || between(0x1F100, 0x1F2FF)
}
