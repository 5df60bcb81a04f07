package web

import (
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/wording"
)

// saying is something of ours that is said in the reader's language.
type saying interface {
	in(texts *templates.Texts) string
}

// chatLine is something that a chat's card or notice says, too.
type chatLine func(*templates.Texts) cardtext.Text

func (l chatLine) in(texts *templates.Texts) string { return l(texts).String() }

// text is one of our texts, to be filled in for the reader's language. Its values may be
// sayings themselves.
type text struct {
	Key    templates.Key
	Values templates.Values
}

// in fills in the text.
func (t text) in(texts *templates.Texts) string {
	values := templates.Values{}
	for name, v := range t.Values {
		if inner, ok := v.(saying); ok {
			v = inner.in(texts)
		}
		values[name] = v
	}
	return texts.Plain(t.Key, values)
}

// textsFor returns the texts in the language that the browser prefers, among the available
// ones, or else in the configured one.
func (w *Web) textsFor(r *http.Request) *templates.Texts {
	wanted, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err == nil {
		for _, tag := range wanted {
			base, _ := tag.Base()
			if lang, ok := templates.Language(base.String()); ok {
				return w.texts.In(lang, w.zone)
			}
		}
	}
	return w.texts.In(w.lang, w.zone)
}

// textFuncs returns the functions of the pages that say something of ours.
func textFuncs(texts *templates.Texts) template.FuncMap {
	return template.FuncMap{
		"lang":      func() string { return string(texts.Lang()) },
		"t":         func(what any, pairs ...any) (string, error) { return fill(texts, what, pairs) },
		"headline":  func(c approval.Card) template.HTML { return saidOf(cardtext.CardHeadline(texts, &c)) },
		"does":      func(it approval.Item) template.HTML { return saidOf(cardtext.Headline(texts, &it.Headline)) },
		"step":      func(v entryView) template.HTML { return saidOf(cardtext.StepHeadline(texts, &v.Step)) },
		"call":      func(v entryView) string { return callBeside(texts, &v) },
		"follows":   func(c approval.Card) []string { return inTwo(follows(texts, &c)) },
		"also":      func(it approval.Item) []string { return inTwo(cardtext.Consequence(texts, &it.Headline.Consequence)) },
		"channel":   func(name string) template.HTML { return channelOf(texts, name) },
		"score":     texts.Score,
		"number":    texts.Number,
		"when":      texts.Stamp,
		"leftBrief": func(t time.Time) string { return leftBrief(texts, t) },
		"left":      func(t time.Time) string { return left(texts, t) },
		"size":      func(s string) string { return size(texts, s) },
		"effect":    func(category string) template.HTML { return effect(texts, category) },
		"judgement": judgementURL,
		"plain":     plain,
		"obscured":  func(it approval.Item) string { return cardtext.Obscured(texts, it.Obscured) },
		"why":       func(v itemView) string { return why(texts, v.Item) },
		"asks":      func(it approval.Item) string { return cardtext.Why(texts, &it) },
		"besides":   func(v itemView) string { return besides(texts, &v) },
		"reasoned": func(g vaglio.GradientResult) template.HTML {
			return judged(texts, g.Reasoning, approval.ReasoningOf(g))
		},
		"noticed": func(s vaglio.Signal) template.HTML { return judged(texts, s.Message, s.Said) },
		"told":    func(sentence string) template.HTML { return agentTold(texts, sentence) },
		"guard":   func(rule *vaglio.GuardRule) template.HTML { return forbids(texts, rule) },
		"digest":  func(d *report.Digest) []digestLine { return digestLines(texts, d) },
		"script":  func() []scriptText { return scriptTexts(texts) },
		"sample": func(name, part, otherwise string) string {
			if key := templates.Key("web.sample." + name + "." + part); texts.Has(key) {
				return texts.Plain(key, nil)
			}
			return otherwise
		},
	}
}

// fill fills in a text that a page names by its key, with pairs of field and value, or one
// that was prepared.
func fill(texts *templates.Texts, what any, pairs []any) (string, error) {
	switch what := what.(type) {
	case saying:
		return unmarked(what.in(texts)), nil
	case string:
		values := templates.Values{}
		for i := 0; i+1 < len(pairs); i += 2 {
			name, ok := pairs[i].(string)
			if !ok {
				return "", fmt.Errorf("web: the text %s: %v is not a field", what, pairs[i])
			}
			values[name] = pairs[i+1]
		}
		return texts.Plain(templates.Key(what), values), nil
	default:
		return "", fmt.Errorf("web: %T is not text", what)
	}
}

// unmarked returns a chat's line without its leading pictograph: the pages have icons of
// their own, and not every machine can show every pictograph.
func unmarked(line string) string {
	mark, rest, ok := strings.Cut(line, " ")
	if r, _ := utf8.DecodeRuneInString(mark); ok && unicode.Is(unicode.So, r) {
		return rest
	}
	return line
}

// left says in words how long it is until t, for readers without the script.
func left(texts *templates.Texts, t time.Time) string {
	switch d := time.Until(t); {
	case d <= 0:
		return texts.Plain("web.left.now", nil)
	case d < time.Minute:
		return texts.Plain("web.left.soon", nil)
	case d < 2*time.Minute:
		return texts.Plain("web.left.minute", nil)
	case d < 2*time.Hour:
		return texts.Plain("web.left.minutes", templates.Values{"n": int(d / time.Minute)})
	default:
		return texts.Plain("web.left.hours", templates.Values{"n": int(d / time.Hour)})
	}
}

// leftBrief says in a row of a list how long it is until t, for readers without the script,
// in the same way as the script.
func leftBrief(texts *templates.Texts, t time.Time) string {
	switch d := time.Until(t); {
	case d < time.Minute:
		return left(texts, t)
	case d < 2*time.Hour:
		return texts.Plain("web.left.brief.minutes", templates.Values{"n": int(d / time.Minute)})
	default:
		return texts.Plain("web.left.brief.hours", templates.Values{"n": int(d / time.Hour)})
	}
}

// plainSize is how many characters on one line can be taken in at a glance.
const plainSize = 80

// size says how long a text is, so that nobody has to trust its looks. It returns "" for a
// short single line, in which everything invisible is marked.
func size(texts *templates.Texts, s string) string {
	if len(s) <= plainSize && !strings.Contains(s, "\n") {
		return ""
	}
	return texts.Plain("web.size", templates.Values{"lines": strings.Count(s, "\n") + 1, "chars": utf8.RuneCountInString(s)})
}

// follows says what follows if the weightiest call of a card runs.
func follows(texts *templates.Texts, c *approval.Card) string {
	lead, _, _ := c.Lead()
	if lead == nil {
		return harmUnknown.Word().in(texts)
	}
	return cardtext.Consequence(texts, &lead.Headline.Consequence)
}

// inTwo returns a consequence in two parts: whether it can be undone, and the rest.
func inTwo(consequence string) []string { return strings.SplitN(consequence, " · ", 2) }

// channelOf names a channel in the reader's words. One of which there are none has its own name.
func channelOf(texts *templates.Texts, name string) template.HTML {
	if key := templates.Key("channel." + name); texts.Has(key) {
		name = texts.Plain(key, nil)
	}
	return brief(name)
}

// effect names a category of signals. The judge's own name for it may be anything, and is
// shown with care.
func effect(texts *templates.Texts, category string) template.HTML {
	if name := texts.EffectName(category); name != category {
		return template.HTML(template.HTMLEscapeString(name)) //nolint:gosec // It was escaped.
	}
	return brief(category)
}

// why says in the reader's language what the judge says in English below it; empty in
// English.
func why(texts *templates.Texts, it approval.Item) string {
	r := approval.ReasonOf(it.Verdict)
	if _, ok := texts.Said(r.Message, r.Said); ok && r.Said != nil {
		return ""
	}
	return texts.Effect(r.Effect, r.Reversibility, r.Reach)
}

// callBeside returns the call of a step as proposed, or "" if its headline has all of it.
func callBeside(texts *templates.Texts, v *entryView) string {
	p := &v.Step.Proposal
	if command, _ := p.Args["command"].(string); command != "" && strings.Contains(cardtext.StepHeadline(texts, &v.Step).String(), command) {
		return ""
	}
	return v.Wanted
}

// besides says why a call is asked about, unless one of its judges says so below.
func besides(texts *templates.Texts, v *itemView) string {
	why := cardtext.Why(texts, &v.Item)
	for i := range v.Judges {
		g := v.Judges[i].GradientResult
		if said, _ := texts.Said(g.Reasoning, approval.ReasoningOf(g)); said == why {
			return ""
		}
	}
	return why
}

// agentTold says in the reader's language what the agent is told in English. A sentence
// that is not ours is shown with care.
func agentTold(texts *templates.Texts, sentence string) template.HTML {
	if said, ok := texts.Told(sentence); ok {
		return template.HTML(template.HTMLEscapeString(said)) //nolint:gosec // It was escaped.
	}
	return show(sentence)
}

// judged says in the reader's language what a judge says, if there are words for it. All of
// it is shown with care: it names what the call is about.
func judged(texts *templates.Texts, message string, said wording.Sentence) template.HTML {
	text, _ := texts.Said(message, said)
	return show(text)
}

// forbids says in the reader's language why the guard has a rule.
func forbids(texts *templates.Texts, rule *vaglio.GuardRule) template.HTML {
	if said := texts.Guard(rule.ID); said != "" {
		return template.HTML(template.HTMLEscapeString(said)) //nolint:gosec // It was escaped.
	}
	return show(rule.Why)
}

// scriptText is one text of the script.
type scriptText struct{ Name, Text string }

// scriptTexts returns the texts of the script.
func scriptTexts(texts *templates.Texts) []scriptText {
	var all []scriptText
	for _, name := range []string{"live.on", "live.off", "now.past", "new", "lost", "moved", "enter.allow", "enter.deny", "unread", "unsent", "keyless", "passkey"} {
		all = append(all, scriptText{name, texts.Plain(templates.Key("web.script."+name), nil)})
	}
	return append(all, scriptText{"left.now", texts.Plain("web.left.now", nil)})
}
