package visible_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval/visible"
)

func TestText(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"Empty":             {"", ""},
		"Plain":             {"rm -rf ./build && echo done", "rm -rf ./build && echo done"},
		"Italian":           {"È così, perché no? L’altra è già lì.", "È così, perché no? L’altra è già lì."},
		"German":            {"Größe über alles: Straße", "Größe über alles: Straße"},
		"Russian":           {"привет, мир", "привет, мир"},
		"Greek":             {"καλημέρα κόσμε", "καλημέρα κόσμε"},
		"Japanese":          {"コーヒーを飲むPCサーバー、漢字", "コーヒーを飲むPCサーバー、漢字"},
		"ChineseWithLatin":  {"打开iPhone手机", "打开iPhone手机"},
		"Korean":            {"안녕 세계", "안녕 세계"},
		"Arabic":            {"مرحبا", "مرحبا"},
		"ArabicVowels":      {"مُحَمَّد", "مُحَمَّد"},
		"Hindi":             {"नमस्ते दुनिया", "नमस्ते दुनिया"},
		"Emoji":             {"done 🎉", "done 🎉"},
		"Typography":        {"“so” — it’s 5–10 … «ok»", "“so” — it’s 5–10 … «ok»"},
		"RaisedAndFraction": {"10² m³, ½, ™, ℃, ①", "10² m³, ½, ™, ℃, ①"},
		"OldKorean":         {"\u1113\u1161", "\u1113\u1161"},

		"Escape":           {"a\x1b[31mb", "a⟨U+001B⟩[31mb"},
		"CarriageReturn":   {"safe\rrm -rf /", "safe⟨U+000D⟩rm -rf /"},
		"NUL":              {"a\x00b", "a⟨U+0000⟩b"},
		"Delete":           {"a\x7fb", "a⟨U+007F⟩b"},
		"NextLine":         {"a\u0085b", "a⟨U+0085⟩b"},
		"BidiOverride":     {"\u202egpj.exe", "⟨U+202E⟩gpj.exe"},
		"BidiIsolate":      {"a\u2066b\u2069", "a⟨U+2066⟩b⟨U+2069⟩"},
		"BidiMarks":        {"a\u200eb\u200fc\u061cd", "a⟨U+200E⟩b⟨U+200F⟩c⟨U+061C⟩d"},
		"ZeroWidthSpace":   {"r\u200bm", "r⟨U+200B⟩m"},
		"ZeroWidthJoiners": {"a\u200c\u200d\u2060b", "a⟨U+200C⟩⟨U+200D⟩⟨U+2060⟩b"},
		"ByteOrderMark":    {"\ufeffa", "⟨U+FEFF⟩a"},
		"SoftHyphen":       {"a\u00adb", "a⟨U+00AD⟩b"},
		"GraphemeJoiner":   {"a\u034fb", "a⟨U+034F⟩b"},
		"Variation":        {"a\ufe0f", "a⟨U+FE0F⟩"},
		"VariationSupp":    {"a\U000e0100b", "a⟨U+E0100⟩b"},
		"Tags":             {"a\U000e0072\U000e006d", "a⟨U+E0072⟩⟨U+E006D⟩"},
		"MusicalFormat":    {"a\U0001d173b", "a⟨U+1D173⟩b"},
		"HangulFiller":     {"a\u3164b\uffa0c\u115f", "a⟨U+3164⟩b⟨U+FFA0⟩c⟨U+115F⟩"},
		"MongolianVowel":   {"a\u180eb", "a⟨U+180E⟩b"},
		"LineSeparator":    {"a\u2028b\u2029c", "a⟨U+2028⟩b⟨U+2029⟩c"},
		"NoBreakSpace":     {"rm\u00a0-rf", "rm⟨U+00A0⟩-rf"},
		"WideSpaces":       {"a\u2003b\u3000c", "a⟨U+2003⟩b⟨U+3000⟩c"},
		"BrailleBlank":     {"a\u2800b", "a⟨U+2800⟩b"},
		"PrivateUse":       {"a\ue000b\U000f0000", "a⟨U+E000⟩b⟨U+F0000⟩"},
		"Unassigned":       {"a\u0378b", "a⟨U+0378⟩b"},
		"Noncharacter":     {"a\uffffb", "a⟨U+FFFF⟩b"},
		"Replacement":      {"a\ufffdb\ufffc", "a⟨U+FFFD⟩b⟨U+FFFC⟩"},
		"NotUTF8":          {"a\xffb\xc3", "a⟨0xFF⟩b⟨0xC3⟩"},
		"Surrogate":        {"\xed\xa0\x80", "⟨0xED⟩⟨0xA0⟩⟨0x80⟩"},
		"Tab":              {"a\tb", "a⟨tab⟩b"},
		"ManyEqual":        {"a" + strings.Repeat("\u200b", 500) + "b", "a⟨U+200B ×500⟩b"},
		"ManyTabs":         {"a\t\t\t\tb", "a⟨tab ×4⟩b"},
		"AFewTabs":         {"a\t\t\tb", "a⟨tab⟩⟨tab⟩⟨tab⟩b"},

		"OwnBracket":      {"⟨U+202E⟩", "⟨U+27E8⟩U+202E⟨U+27E9⟩"},
		"BracketAlikes":   {"〈U+202E〉", "⟨U+3008 〈⟩U+202E⟨U+3009 〉⟩"},
		"BracketMedium":   {"❬a", "⟨U+276C ❬⟩a"},
		"MaskIsLeft":      {"x ‹masked 40 chars #3fa9c2d17be0› y", "x ‹masked 40 chars #3fa9c2d17be0› y"},
		"MaskBracketElse": {"cat ‹file", "cat ⟨U+2039 ‹⟩file"},

		"CyrillicInLatin":   {"p\u0430ypal.com", "p⟨U+0430 а⟩ypal.com"},
		"GreekInLatin":      {"g\u03bfogle", "g⟨U+03BF ο⟩ogle"},
		"CyrillicAtTheEnds": {"aж zж Aж Zж a0ж a9ж", "a⟨U+0436 ж⟩ z⟨U+0436 ж⟩ A⟨U+0436 ж⟩ Z⟨U+0436 ж⟩ a0⟨U+0436 ж⟩ a9⟨U+0436 ж⟩"},
		"LatinInFewLetters": {"vпд", "⟨U+0076 v⟩пд"},
		"DigitsOfTheScript": {"ب٥", "ب٥"},
		"LatinInCyrillic":   {"приvет", "п⟨U+0440 р⟩и⟨U+0076 v⟩⟨U+0435 е⟩т"},
		"WholeLooksLatin":   {"\u0441\u0440 a b", "⟨U+0441 с⟩⟨U+0440 р⟩ a b"},
		"Armenian":          {"g\u0585ogle", "g⟨U+0585 օ⟩ogle"},
		"Cherokee":          {"\u13a1vil", "⟨U+13A1 Ꭱ⟩vil"},
		"Fullwidth":         {"ｒｍ", "⟨U+FF52 ｒ⟩⟨U+FF4D ｍ⟩"},
		"WidePunctuation":   {"促销！今天，五折；好：对？", "促销！今天，五折；好：对？"},
		"WideInLatin":       {"rm -rf /srv； ls", "rm -rf /srv⟨U+FF1B ；⟩ ls"},
		"WideTwice":         {"好（対）！！", "好（対）！！"},
		"WideManyTimes":     {"好！！！！！", "好！！！！⟨U+FF01 ！⟩"},
		"WideAlone":         {"！", "⟨U+FF01 ！⟩"},
		"FullwidthSlash":    {"a／b", "a⟨U+FF0F ／⟩b"},
		"MathLetters":       {"𝐫𝐦", "⟨U+1D42B 𝐫⟩⟨U+1D426 𝐦⟩"},
		"DivisionSlash":     {"a∕b⁄c", "a⟨U+2215 ∕⟩b⟨U+2044 ⁄⟩c"},
		"GreekQuestion":     {"a\u037eb", "a⟨U+037E \u037e⟩b"},
		"Kelvin":            {"\u212a", "⟨U+212A \u212a⟩"},
		"Micro":             {"5 \u00b5s", "5 ⟨U+00B5 µ⟩s"},
		"HyphenAlikes":      {"rm \u2010rf \u2212x", "rm ⟨U+2010 ‐⟩rf ⟨U+2212 −⟩x"},
		"DashAsOption":      {"rm –rf — no, —no-preserve-root", "rm ⟨U+2013 –⟩rf — no, ⟨U+2014 —⟩no-preserve-root"},
		"EachDashAsOption":  {"‒a ―b –‐c —-d —―e a–b 1 –2", "⟨U+2012 ‒⟩a ⟨U+2015 ―⟩b ⟨U+2013 –⟩⟨U+2010 ‐⟩c ⟨U+2014 —⟩-d ⟨U+2014 —⟩⟨U+2015 ―⟩e a–b 1 –2"},
		"QuoteAsQuote":      {"echo ‘a’", "echo ⟨U+2018 ‘⟩a⟨U+2019 ’⟩"},
		"Ligature":          {"ﬁle", "⟨U+FB01 ﬁ⟩le"},
		"ArabicDigits":      {"port ٥", "port ⟨U+0665 ٥⟩"},
		"LatinAlpha":        {"\u0251dmin", "⟨U+0251 ɑ⟩dmin"},
		"Click":             {"a \u01c0 b \u01c3", "a ⟨U+01C0 ǀ⟩ b ⟨U+01C3 ǃ⟩"},
		"Decomposed":        {"cafe\u0301", "cafe⟨U+0301⟩"},
		"LoneMark":          {"\u0301a", "⟨U+0301⟩a"},
		"MarkOnSign":        {"=\u0338", "=⟨U+0338⟩"},
		"Zalgo":             {"a\u0316\u0317\u0318\u0319b", "a⟨U+0316⟩⟨U+0317⟩⟨U+0318⟩⟨U+0319⟩b"},
		"Strike":            {"r\u0336m\u0336", "r⟨U+0336⟩m⟨U+0336⟩"},
		"JamoSequence":      {"\u1112\u1161", "\u1112⟨U+1161⟩"},
		"MarksReordered":    {"\u05d0\u05b0\u05bc \u05d0\u05bc\u05b0", "\u05d0\u05b0\u05bc \u05d0⟨U+05BC⟩⟨U+05B0⟩"},
		"SplitByZeroWidth":  {"p\u200b\u0430ypal", "p⟨U+200B⟩⟨U+0430 а⟩ypal"},

		"TrailingSpaces":   {"a  \nb ", "a⟨2 spaces⟩\nb⟨1 space⟩"},
		"LeadingSpaces":    {"  a", "⟨2 spaces⟩a"},
		"Indentation":      {"a\n    b", "a\n    b"},
		"LongIndentation":  {"a\n" + strings.Repeat(" ", 32) + "b", "a\n" + strings.Repeat(" ", 32) + "b"},
		"Padding":          {"a" + strings.Repeat(" ", 33) + "b", "a⟨33 spaces⟩b"},
		"SidewaysPadding":  {"ls" + strings.Repeat(" ", 300) + "; rm -rf ~", "ls⟨300 spaces⟩; rm -rf ~"},
		"BlankLine":        {"a\n\nb\n\n\nc", "a\n\nb\n\n\nc"},
		"ManyBlankLines":   {"a\n\n\n\nb" + strings.Repeat("\n", 100) + "c", "a\n⟨3 blank lines⟩\nb\n⟨99 blank lines⟩\nc"},
		"NewlineAtTheEnds": {"\na\n", "⟨1 newline⟩a⟨1 newline⟩"},
		"OnlyNewlines":     {"\n\n", "⟨2 newlines⟩"},
	} {
		t.Run(name, func(t *testing.T) {
			got := visible.Text(tt.text)
			if got != tt.want {
				t.Errorf("Text(%+q)\n got %s\nwant %s", tt.text, got, tt.want)
			}
			checkRuns(t, tt.text)
		})
	}
}

// TestOtherFormsThatAreSeen checks that characters which Unicode considers forms of a plain
// character stay as they are if they are drawn differently: superscripts and subscripts,
// fractions, and what is circled or squared. It tries both ends of each range.
func TestOtherFormsThatAreSeen(t *testing.T) {
	for _, c := range "¨ª¯²³¹º¼½¾…℃℉№℠℡™℻↉" + "ʰʸ˘˝ˠˤ" + "ᴬᵪᶛᶿ" + "⁰ₜ⅐⅟" + "①⓪㈀㏿🄁🈻" {
		if text := fmt.Sprintf("a %c b", c); visible.Text(text) != text {
			t.Errorf("U+%04X is shown as %s", c, visible.Text(text))
		}
	}
	for _, c := range "ͺ΄Ⅰⅿﬀﹷ︐ﹼ" {
		if text := fmt.Sprintf("a %c b", c); visible.Text(text) == text {
			t.Errorf("U+%04X is shown as it is", c)
		}
	}
}

// TestClip checks that cut text says that it was cut and how long it was, within the room
// there is.
func TestClip(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"äöü", 3, "äöü"},
		{strings.Repeat("a", 40), 40, strings.Repeat("a", 40)},
		{strings.Repeat("a", 40), 39, "aaaaaaaaaaa [cut: 40 characters in all]"},
		{strings.Repeat("ä", 40), 30, "ää [cut: 40 characters in all]"},
		{strings.Repeat("ä", 40), 28, " [cut: 40 characters in all]"},
	} {
		if got := visible.Clip(tt.text, tt.n); got != tt.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
	if got, want := visible.Quote("a\"\n\u202e"+strings.Repeat("b", 40), 31), `"a\"\n [cut: 44 characters in all]"`; got != want {
		t.Errorf("Quote gives %s, want %s", got, want)
	}
}

func TestRevealNotes(t *testing.T) {
	for text, want := range map[string]string{
		"p\u0430ypal":  "Cyrillic in a Latin word: CYRILLIC SMALL LETTER A",
		"\u202e":       "invisible: RIGHT-TO-LEFT OVERRIDE",
		"\x1b":         "control character: ESCAPE",
		"\x00":         "control character: NULL",
		"\x01":         "control character",
		"\a":           "control character: BELL",
		"\b":           "control character: BACKSPACE",
		"\r":           "control character: CARRIAGE RETURN",
		"\x7f":         "control character: DELETE",
		"aж":           "Cyrillic in a Latin word: CYRILLIC SMALL LETTER ZHE",
		"g\u0585":      "Armenian in a Latin word: ARMENIAN SMALL LETTER OH",
		"\ufe0f":       "invisible: VARIATION SELECTOR-16",
		"\u2800":       "unusual space: BRAILLE PATTERN BLANK",
		"\u00a0":       "unusual space: NO-BREAK SPACE",
		"\ue000":       "private use: every font shows it differently",
		"\u0378":       "unassigned character",
		"\xff":         "byte that is not UTF-8",
		"e\u0301":      "combining mark: COMBINING ACUTE ACCENT",
		"\u0441":       "in a Cyrillic word that looks Latin: CYRILLIC SMALL LETTER ES",
		"ａ":            "easily taken for another character: FULLWIDTH LATIN SMALL LETTER A, another form of a",
		"\ufdfa":       "easily taken for another character: ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM, another form of صلى الله عليه وسلم",
		"\u2215":       "easily taken for another character: DIVISION SLASH",
		"⟨":            "a bracket that these marks are written with",
		"\u1112\u1161": "letter that melts into the one before: HANGUL JUNGSEONG A",
	} {
		note := ""
		for _, r := range visible.Runs(text) {
			if r.Kind == visible.Plain && r.Note != "" {
				t.Errorf("%+q: plain text has the note %q", text, r.Note)
			}
			if r.Kind != visible.Plain && note == "" {
				note = r.Note
			}
		}
		if note != want {
			t.Errorf("%+q: note %q, want %q", text, note, want)
		}
	}
}

// TestRevealKinds checks that spacing is told apart from what hides, and from what only
// looks alike.
func TestRevealKinds(t *testing.T) {
	for text, want := range map[string]visible.RunKind{
		"\u202e": visible.Hidden, "\x1b": visible.Hidden, "\xff": visible.Hidden, "\u0301": visible.Hidden,
		"\u00a0": visible.Space, "\u2800": visible.Space, "\t": visible.Space, "  ": visible.Space, "\n": visible.Space,
		"\u0441": visible.Lookalike, "⟨": visible.Lookalike, "∕": visible.Lookalike, "a": visible.Plain,
	} {
		if runs := visible.Runs(text); len(runs) != 1 || runs[0].Kind != want {
			t.Errorf("%+q gives %+v, want kind %d", text, runs, want)
		}
	}
}

// checkRuns checks what Runs promises for every text: it can be undone, so no two texts
// give the same runs, and nothing invisible is left.
func checkRuns(t *testing.T, text string) {
	t.Helper()
	runs := visible.Runs(text)
	var joined strings.Builder
	for i, r := range runs {
		joined.WriteString(r.Text)
		if r.Text == "" {
			t.Fatalf("%+q: run %d is empty", text, i)
		}
		if marked := strings.HasPrefix(r.Text, "⟨"); marked != (r.Kind != visible.Plain) || marked != strings.HasSuffix(r.Text, "⟩") {
			t.Fatalf("%+q: run %d is %+v", text, i, r)
		}
	}
	shown := visible.Text(text)
	if shown != joined.String() {
		t.Fatalf("%+q: Text gives %q, the runs %q", text, shown, joined.String())
	}
	if back := conceal(t, shown); back != text {
		t.Fatalf("%+q\nis shown as %s\nwhich reads %+q", text, shown, back)
	}
	for i, c := range shown {
		if c != '\n' && !unicode.IsPrint(c) || c == utf8.RuneError {
			t.Fatalf("%+q: %+q at byte %d of %s is not seen", text, c, i, shown)
		}
	}
	if shown != strings.TrimSpace(shown) || strings.Contains(shown, " \n") || strings.Contains(shown, "\n\n\n\n") {
		t.Fatalf("%+q: padding is left in %q", text, shown)
	}
}

var marks = regexp.MustCompile(`⟨(?:U\+([0-9A-F]{4,6})(?: ×(\d+)| [^⟩])?|0x([0-9A-F]{2})(?: ×(\d+))?|tab(?: ×(\d+))?|(\d+) (space|newline|blank line)s?)⟩`)

// conceal undoes Text.
func conceal(t *testing.T, shown string) string {
	t.Helper()
	return marks.ReplaceAllStringFunc(shown, func(mark string) string {
		m := marks.FindStringSubmatch(mark)
		count := func(s string) int {
			if s == "" {
				return 1
			}
			n, err := strconv.Atoi(s)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		number := func(s string) int64 {
			n, err := strconv.ParseInt(s, 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		switch {
		case m[1] != "":
			return strings.Repeat(string(rune(number(m[1]))), count(m[2]))
		case m[3] != "":
			return strings.Repeat(string([]byte{byte(number(m[3]))}), count(m[4]))
		case m[7] == "space":
			return strings.Repeat(" ", count(m[6]))
		case m[7] == "newline":
			return strings.Repeat("\n", count(m[6]))
		case m[7] == "blank line":
			return strings.Repeat("\n", count(m[6])-1)
		default:
			return strings.Repeat("\t", count(m[5]))
		}
	})
}

// TestRevealEveryCharacter tries every character, alone and between letters.
func TestRevealEveryCharacter(t *testing.T) {
	for c := range unicode.MaxRune + 1 {
		if !utf8.ValidRune(c) || (testing.Short() && c%13 != 0) {
			continue
		}
		if s := string(c); visible.Text(s) == s && !unicode.IsPrint(c) {
			t.Fatalf("U+%04X is shown as it is", c)
		}
		if c < 0x600 || 0x2000 <= c && c < 0x3100 || c%61 == 0 {
			checkRuns(t, fmt.Sprintf("%c a%cb \u0436%c", c, c, c))
		}
	}
}

func FuzzReveal(f *testing.F) {
	for _, seed := range []string{
		"", "rm -rf /", "p\u0430ypal", "\u202e\u2066", "a\xffb", "⟨U+202E⟩", "⟨U+202E ×4⟩", "⟨3 spaces⟩\n\n\n\n", "\u1112\u1161\u11a8",
		"e\u0301\u0302", "‹masked 40 chars #3fa9c2d17be0›", "⟨U+0430 а⟩", "\t\t\t\t\t", "مُحَمَّد", "\r\n\r\n", "⟨U+27E9 ⟩⟩",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { checkRuns(t, text) })
}

func BenchmarkReveal(b *testing.B) {
	for name, text := range map[string]string{
		"Command1KiB": strings.Repeat("find ./src -name '*.go' -exec wc -l {} + | sort -n; ", 20)[:1024],
		"Russian1KiB": strings.Repeat("удалить старую сборку и начать заново; ", 30)[:1024],
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				visible.Text(text)
			}
		})
	}
}

func TestLine(t *testing.T) {
	for _, s := range []string{
		"a\nb\nc", "\n\na\nb", "\na", "a\n\n\nb\nc\n", "a\n\n\n\n\n\nb\n\n\n\nc\nd\n\n", "a", "\u200bx\n\n\n\n\n\u202ey\nz",
	} {
		shown := strings.Split(visible.Text(s), "\n")
		for i, line := range strings.Split(s, "\n") {
			if line == "" {
				continue
			}
			n := visible.Line(s, i+1)
			if n > len(shown) || !strings.Contains(shown[n-1], visible.Text(line)) {
				t.Errorf("line %d of %q (%q) is on line %d of %q", i+1, s, line, n, shown)
			}
		}
	}
}
