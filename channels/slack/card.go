package slack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

// cardView is a card whose texts are revealed, once, for every try to lay it
// out.
type cardView struct {
	id                  approval.AskID
	agent, intent, turn seen
	who                 string // the agent in short
	items               []itemView
	buttons             []approval.Button
	open                int
	until               time.Time
	texts               *templates.Texts
}

// itemView is one call of a card.
type itemView struct {
	state                                            approval.State
	executor, args, command, cwd, why, wanted, words seen
	detail, by, votes                                seen
	mounts                                           []seen
	effect                                           string
	at                                               time.Time
	buttons                                          []approval.Button
	// forever says that a judge holds the call's effect to be irreversible.
	forever bool
}

const (
	// maxPerItem is how many calls of a plan get buttons of their own: with two
	// blocks for each call the card keeps within the platform's 50.
	maxPerItem = 20
	// everything is the budget of a card that cuts nothing.
	everything = -1
	// roomForEnd is kept free per call for how it ends.
	roomForEnd = 160
	// maxWhy and maxWords bound what is said about a call; it is not the call.
	maxWhy, maxWords = 400, 200
)

// viewOf reveals a card.
func viewOf(c approval.Card, texts *templates.Texts) *cardView {
	v := &cardView{
		id: c.Ask, agent: seeLine(c.Agent), intent: seeLine(c.Intent), turn: seeLine(c.TurnID),
		who: nickname(c.Agent), buttons: c.Buttons, until: c.ExpiresAt, texts: texts,
	}
	for i := range c.Items {
		it := &c.Items[i]
		iv := itemView{
			state: it.State, executor: seeLine(it.Executor), cwd: seeLine(it.Cwd), command: see(it.Command),
			why: seeLine(whyOf(it)), effect: effectOf(texts, it), wanted: seeLine(wanted(it)), at: it.EndedAt, buttons: it.Buttons,
			forever: irreversible(it),
		}
		if it.Command == "" || it.Args != commandArgs(it.Command) {
			iv.args = see(it.Args)
		}
		for _, m := range it.Mounts {
			iv.mounts = append(iv.mounts, seeLine(m))
		}
		var votes []string
		for _, vote := range it.Votes {
			votes = append(votes, vote.By.Name+" ("+vote.By.ID+")")
		}
		iv.votes = seeLine(strings.Join(votes, ", "))
		if d := it.Decision; d != nil {
			iv.by, iv.at, iv.words = seeLine(d.By.Name+" ("+d.By.ID+")"), d.At, seeLine(d.Words)
		}
		if o := it.Outcome; o != nil {
			iv.detail = seeLine(o.Detail)
		}
		if it.State == approval.Pending {
			v.open++
		}
		v.items = append(v.items, iv)
	}
	return v
}

// irreversible reports whether a judge says so of any effect of the call.
func irreversible(it *approval.Item) bool {
	for _, r := range it.Verdict.Results {
		effects, _ := r.Metadata["effects"].([]any)
		for _, e := range effects {
			if e, ok := e.(map[string]any); ok && e["reversibility"] == "irreversible" {
				return true
			}
		}
	}
	return false
}

// commandArgs are the arguments of a call that has a command and nothing else:
// they would say the same again.
func commandArgs(command string) string {
	b, err := json.Marshal(map[string]string{"command": command})
	v := jsontext.Value(b)
	if err != nil || v.Canonicalize() != nil || v.Indent(jsontext.WithIndent("  ")) != nil {
		return ""
	}
	return string(v)
}

// overflows reports whether the card needs a file. It depends on the calls
// alone and not on how they stand, so every picture of an ask agrees.
func (v *cardView) overflows() bool {
	n := *v
	n.open = len(v.items)
	n.items = slices.Clone(v.items)
	for i := range n.items {
		it := &n.items[i]
		it.state, it.words, it.detail, it.by, it.votes = approval.Pending, seen{}, seen{}, seen{}, seen{}
	}
	p := n.layout(everything, everything, true)
	return !p.fits() || p.units+roomForEnd*(len(v.items)+1) > maxText
}

// fit lays the card out so that the platform takes it. attached says that the
// whole of it is in a file in the thread. Allow is offered only where the
// person can see every call that waits, here or there.
func (v *cardView) fit(attached bool) *page {
	if !v.overflows() {
		for _, ended := range []int{everything, 200, 60} {
			if p := v.layout(everything, ended, true); p.fits() {
				return p
			}
		}
	}
	for _, budget := range []int{3000, 1500, 600, 250, 100, 40} {
		if p := v.cut(budget, min(budget, 60), attached); p.fits() {
			return p
		}
	}
	return v.cut(0, 0, attached)
}

// cut lays the card out within budgets and says where the rest is.
func (v *cardView) cut(waiting, ended int, attached bool) *page {
	p := v.layout(waiting, ended, attached)
	switch {
	case attached:
		p.footer(v.texts.Plain("file", map[string]any{"hash": theirs(sum(v.file())[:16])}))
	case v.open > 0:
		p.footer(v.texts.Plain("unseen", nil))
	}
	return p
}

// page is an empty page for the card's texts.
func (v *cardView) page() *page { return &page{texts: v.texts} }

// layout writes the card. A budget is the most characters of one text of a
// call that waits, or of one that ended; 0 names no call at all.
func (v *cardView) layout(waiting, ended int, whole bool) *page {
	p := v.page()
	p.header(v.title())
	short := func(t seen) theirs {
		if waiting == everything {
			return theirs(t.String())
		}
		s, left := t.first(max(waiting, 40))
		if left > 0 {
			s += "…"
		}
		return theirs(s)
	}
	p.line("from", map[string]any{"agent": short(v.agent)})
	if v.intent.runes > 0 {
		p.line("intent", map[string]any{"intent": short(v.intent)})
	}
	if waiting == 0 {
		v.summary(p)
	} else {
		for i := range v.items {
			budget := ended
			if v.items[i].state == approval.Pending {
				budget = waiting
			}
			v.item(p, i, budget)
			v.choices(p, i, whole)
		}
	}
	v.all(p, whole)
	if v.open > maxPerItem {
		p.footer(v.texts.Plain("many", nil))
	}
	if v.open > 0 {
		p.footer(v.texts.Plain("until", map[string]any{"when": v.until, "id": theirs(v.id)}))
	} else {
		p.footer(v.texts.Plain("id", map[string]any{"id": theirs(v.id)}))
	}
	return p
}

// item writes one call.
func (v *cardView) item(p *page, i, budget int) {
	it := &v.items[i]
	if len(v.items) > 1 {
		p.bold(strconv.Itoa(i+1) + ". ")
	}
	v.part(p, it.executor, budget, p.code)
	p.end()
	if it.command.runes > 0 {
		v.part(p, it.command, budget, p.pre)
		p.end()
	}
	if it.args.runes > 0 {
		p.line("args", nil)
		v.part(p, it.args, budget, p.pre)
		p.end()
	}
	for _, m := range it.mounts {
		p.say("mount", nil)
		p.text(" ")
		v.part(p, m, budget, p.code)
		p.end()
	}
	if it.cwd.runes > 0 {
		p.say("in", nil)
		p.text(" ")
		v.part(p, it.cwd, budget, p.code)
		p.end()
	}
	v.standing(p, it, budget)
}

// summary stands for a plan whose calls cannot be named here: how many there
// are, and how those ended that did.
func (v *cardView) summary(p *page) {
	const most = 8
	p.line("calls.file", map[string]any{"n": len(v.items)})
	var order []string
	counts, one := map[string]int{}, map[string]int{}
	for i := range v.items {
		it := &v.items[i]
		if it.state == approval.Pending {
			continue
		}
		key := string(it.state) + "\x00" + it.by.String() + "\x00" + it.words.String()
		if counts[key]++; counts[key] == 1 {
			order, one[key] = append(order, key), i
		}
	}
	for i, key := range order {
		if i == most {
			p.line("calls.more", nil)
			return
		}
		p.say("calls.ended", map[string]any{"n": counts[key]})
		p.text(" ")
		v.standing(p, &v.items[one[key]], 40)
	}
}

// part writes a text, or as much of it as the budget allows.
func (v *cardView) part(p *page, t seen, budget int, write func(string)) {
	if budget == everything || t.runes <= budget {
		write(t.String())
		return
	}
	s, left := t.first(budget)
	write(s)
	p.text(" ")
	p.say("cut", map[string]any{"left": left})
}

// standing tells why the call waits, or how it ended, by whom and when.
func (v *cardView) standing(p *page, it *itemView, budget int) {
	bounded := func(t seen, most int) theirs {
		if budget != everything {
			most = min(most, max(budget, 40))
		}
		s, left := t.first(most)
		if left > 0 {
			s += "…"
		}
		return theirs(s)
	}
	if it.state == approval.Pending {
		switch {
		case it.effect != "":
			p.line("why.effect", map[string]any{"effect": it.effect, "why": bounded(it.why, maxWhy)})
		case it.why.runes > 0:
			p.line("why", map[string]any{"why": bounded(it.why, maxWhy)})
		}
		if it.votes.runes > 0 {
			p.line("votes", map[string]any{"by": bounded(it.votes, 100)})
		}
		if len(v.items) > 1 && v.open < len(v.items) {
			p.line("state.pending", nil)
		}
		return
	}
	p.line(phrase("state."+string(it.state)), map[string]any{"when": it.at, "by": bounded(it.by, 60)})
	if it.words.runes > 0 {
		p.line("words", map[string]any{"words": bounded(it.words, maxWords)})
	}
	if it.detail.runes > 0 {
		p.line("detail", map[string]any{"detail": bounded(it.detail, maxWords)})
	}
}

// file is the card as a document: every text whole, each of its lines indented
// so that it cannot pass for one of ours.
func (v *cardView) file() []byte {
	var b strings.Builder
	field := func(name string, t seen) {
		if t.runes > 0 {
			fmt.Fprintf(&b, "%s:\n    %s\n", name, strings.ReplaceAll(t.String(), "\n", "\n    "))
		}
	}
	fmt.Fprintf(&b, "ask %s\n", v.id)
	field("agent", v.agent)
	field("turn", v.turn)
	field("intent", v.intent)
	for i := range v.items {
		it := &v.items[i]
		fmt.Fprintf(&b, "\ncall %d of %d\n", i+1, len(v.items))
		field("executor", it.executor)
		field("command", it.command)
		field("arguments", it.args)
		field("working folder", it.cwd)
		for _, m := range it.mounts {
			field("mount", m)
		}
		field("why it asks", it.why)
	}
	return []byte(b.String())
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
