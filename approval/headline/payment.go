package headline

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// moved is a way in which a tool moves money.
type moved struct {
	words             string
	to, about, amount wording.Phrase
}

// money returns the ways in which tools move money; the first one that a name contains
// counts. Preparing or describing a payment moves none.
func money() []moved {
	return []moved{
		{"refund refunds", "refunds %s to %s", "refunds %s: %s", "refunds %s"},
		{"charge charges capture intent intents", "charges %s to %s", "charges %s: %s", "charges %s"},
		{"invoice invoices bill", "bills %s to %s", "bills %s: %s", "bills %s"},
		{"deposit", "deposits %s to %s", "deposits %s: %s", "deposits %s"},
		{"withdraw withdrawal", "withdraws %s to %s", "withdraws %s: %s", "withdraws %s"},
		{
			"pay payment payments payout purchase buy order checkout transfer send wire remit donate donation tip book booking reserve rent",
			"pays %s to %s", "pays %s: %s", "pays %s",
		},
	}
}

// dated returns the way in which money moves some other day, and which day that is, if the tool's name or an argument
// says so.
func (c *call) dated(m moved) (then moved, day []wording.Clause) {
	on := c.first(spoken.List("sums later")...)
	if c.speaksOf("sums schedules") {
		on = cmp.Or(on, c.first(spoken.List("texts when")...))
	} else if on == "" {
		return m, nil
	}
	if m.amount != "pays %s" {
		return m, nil
	}
	if on != "" {
		day = []wording.Clause{{Text: on}}
	}
	return scheduled(), day
}

// scheduled is the way in which a tool moves money some other day.
func scheduled() moved {
	return moved{"", "schedules a payment of %s to %s", "schedules a payment of %s: %s", "schedules a payment of %s"}
}

// moneyWords returns all words that say that money moves.
func moneyWords() string {
	var all []string
	for _, m := range money() {
		all = append(all, m.words)
	}
	return strings.Join(all, " ")
}

// amounts returns the keys of arguments that say how much.
func amounts() []string {
	names := []string{"amount", "amountmoney", "unitamount", "total", "price", "sum", "sourceamount", "targetamount"}
	for _, name := range slices.Clone(names) {
		for _, unit := range spoken.List("sums minor") {
			names = append(names, name+unit)
		}
	}
	return names
}

// payee matches the keys of arguments that say to whom something is paid.
var payee = regexp.MustCompile(`^(iban|(to|target|destination|primary|recipient|beneficiary|payee|creditor|receiver|merchant|vendor|seller|supplier|restaurant|counterparty)+s?(bank)?` +
	`(account|iban|wallet|address|phone|email)?(number|id|name)?)$`)

// paid returns to whom something is paid: by an account before anything else, and by a mail address if
// nothing else is said. Who is also called by a name, or just named, is so, and the account is said behind that.
func (c *call) paid() (to []string, account []wording.Clause) {
	keys := slices.DeleteFunc(slices.Clone(c.keys), func(key string) bool { return !payee.MatchString(key) })
	slices.SortStableFunc(keys, func(a, b string) int { return accounts(b) - accounts(a) })
	to = c.values(append(slices.Clone(keys), "email", "emailaddress", "phone", "phonenumber"))
	var names, roles []string
	for _, key := range keys {
		switch {
		case called(key):
			names = append(names, key)
		case accounts(key) == 0 && kindOf(key) != idKey:
			roles = append(roles, key)
		}
	}
	if len(names)+len(roles) == 0 && len(keys) > 0 && accounts(keys[0]) > 0 {
		names = []string{"name"} // beside an account, whose it is
	}
	if name := c.values(append(names, roles...)); len(to) == 1 && len(name) == 1 && name[0] != to[0] {
		return name, []wording.Clause{{Text: to[0]}}
	}
	return to, nil
}

// called reports whether an argument with this key says what somebody is called.
func called(key string) bool { return strings.HasSuffix(key, "name") }

// holdsAccount reports whether an argument describes somebody who is paid by an account, which matters
// more than what they are called.
func holdsAccount(key string, parts map[string]any) bool {
	return payee.MatchString(key) && slices.ContainsFunc(slices.Collect(maps.Keys(parts)), func(part string) bool { return accounts(reading.Normal(part)) > 0 })
}

// accounts returns 1 if a key names an account of money.
func accounts(key string) int {
	if !called(key) && (strings.Contains(key, "iban") || strings.Contains(key, "account")) {
		return 1
	}
	return 0
}

// often returns how often something is paid, if an argument says so.
func (c *call) often() []wording.Clause {
	if every := c.first("interval", "frequency", "recurrence", "cadence"); every != "" {
		return []wording.Clause{{Text: every}}
	}
	return nil
}

// priceOf returns what the only item that is sold says of its price.
func priceOf(item map[string]any) map[string]any {
	price := map[string]any{}
	for key, value := range item {
		if name := reading.Normal(key); slices.Contains(amounts(), name) || spoken.Is("sums currencies", name) || name == "quantity" {
			price[key] = value
		}
	}
	return price
}

// transfers reports whether an element of a list says how much goes to whom.
func transfers(element map[string]any) bool {
	keys := make([]string, 0, len(element))
	for key := range element {
		keys = append(keys, reading.Normal(key))
	}
	return slices.ContainsFunc(keys, payee.MatchString) && slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(amounts(), key) })
}

// payment describes what a tool pays or is paid, and to whom or for what.
func (c *call) payment(kind operation.Kind) wording.Sentence {
	amount := c.amount()
	to, account := c.paid()
	if len(to) == 0 && c.has("withdraw", "withdrawal") {
		to = c.values([]string{"address"}) // of a wallet
	}
	if len(amount) == 0 && c.moves(kind) && c.gives("sums denominations") {
		amount = c.sums("value")
	}
	if len(amount) == 0 && kind == operation.KindSpend {
		return c.due()
	}
	if len(amount) == 0 || !c.pays(kind) {
		return nil
	}
	item := c.first("item", "product", "description", "title", "sku", "name", "plan", "flight", "hotel", "room", "charge", "chargeid", "capture", "captureid", "payment", "paymentid", "paymentintent",
		"invoice", "invoiceid", "order", "orderid")
	customer := c.first("customer", "customerid", "customername", "client", "clientid", "clientname")
	for _, m := range money() {
		if c.movesBy(&m) {
			m, day := c.dated(m)
			return append(m.says(several(amount), to, item, customer), bracketed(slices.Concat(account, day, c.often()))...)
		}
	}
	return nil
}

// movesBy reports whether the tool's name says that money moves in this way: who pays a bill does not bill.
func (c *call) movesBy(m *moved) bool {
	named := c.has(strings.Fields(m.words)...) || m.amount == "pays %s" && c.transacts()
	return named && (!strings.HasPrefix(string(m.to), "bills") || !c.has("pay", "payment", "payments"))
}

// says says how much is moved, and to whom or for what.
func (m *moved) says(amount wording.Clause, to []string, item, customer string) wording.Sentence {
	pays := strings.Contains(string(m.to), "pay") // nobody is paid by being named
	switch {
	case len(to) > 0:
		return wording.Sentence{{Phrase: m.to, Args: []wording.Clause{amount, named(to)}}}
	case item != "" || customer != "" && pays:
		return wording.Sentence{{Phrase: m.about, Args: []wording.Clause{amount, prose(cmp.Or(item, customer))}}}
	case customer != "":
		return wording.Sentence{{Phrase: m.to, Args: []wording.Clause{amount, wording.Say(spoken.ThingAt("customer").One, customer)}}}
	default:
		return wording.Sentence{{Phrase: m.amount, Args: []wording.Clause{amount}}}
	}
}

// traded describes what is bought or sold at a market, or an order to do so: how much of what, and on which terms.
func (c *call) traded(operation.Kind) wording.Sentence {
	does, _, _ := c.verb()
	what, much := c.first(spoken.List("traded what")...), c.first(spoken.List("traded much")...)
	order, ok := map[string]wording.Phrase{"buy": "places an order to buy %s", "sell": "places an order to sell %s"}[strings.ToLower(c.first(spoken.List("traded sides")...))]
	sells := does != nil && (does.Phrase == "buys %s" || does.Phrase == "sells %s")
	switch {
	case what == "":
		return nil
	case sells:
		order = does.Phrase
	case !ok || !c.has("order", "orders", "trade", "gtt") || does != nil && !does.Makes && does.Phrase != "places %s" && does.Phrase != "submits %s":
		return nil
	}
	much, terms := c.terms(much)
	return append(wording.Sentence{wording.Say(order, strings.TrimSpace(much+" "+what))}, bracketed(terms)...)
}

// onMarket has what is bought and sold as stock mean parts of companies: stock that is counted or moved is goods.
func (c *call) onMarket() {
	for i := c.server + 1; i < len(c.words); i++ {
		means, stock := map[string]string{"stock": "equity", "stocks": "equities"}[c.words[i]]
		if stock && (c.words[i-1] == "buy" || c.words[i-1] == "sell") {
			c.words = slices.Concat(c.words[:i], []string{means}, c.words[i+1:])
		}
	}
}

// terms returns how much is traded and the terms of that, with their names. An amount in a currency is what it may cost.
func (c *call) terms(much string) (of string, terms []wording.Clause) {
	keys := spoken.List("traded terms")
	if c.first("currency") != "" && much == c.first("amount") {
		much, keys = "", append([]string{"amount", "currency"}, keys...)
	}
	for _, key := range keys {
		if value := c.first(key); value != "" && len(terms) < mostNamed {
			terms = append(terms, c.labelled(key, wording.Clause{Text: value}))
		}
	}
	return much, terms
}

// due says what a tool pays whose name says only that it pays, without an amount: "pays the bill B9".
func (c *call) due() wording.Sentence {
	does, at, n := c.verb()
	if does == nil || does.Phrase != "pays %s" || len(c.words) > at+n {
		return nil
	}
	for _, noun := range []string{"bill", "invoice", "order", "booking", "reservation", "subscription"} {
		thing, _, _ := spoken.ThingOf([]string{noun})
		if names, _ := c.names(&spoken.Thing{}, false, noun); len(names) == 1 {
			return wording.Sentence{{Phrase: does.Phrase, Args: []wording.Clause{{Phrase: thing.One, Args: []wording.Clause{named(names)}}}}}
		}
	}
	return nil
}

// toAccount reports whether an argument names a bank account to which something goes.
func (c *call) toAccount() bool {
	return c.first("iban", "toaccount", "targetaccount", "destinationaccount", "recipientaccount") != "" || c.transacts()
}

// transacts reports whether the tool moves money from one account to somebody. A transaction without them
// may be a note of one.
func (c *call) transacts() bool {
	to, _ := c.paid()
	return c.has("transaction", "transactions") && c.first("fromaccount", "sourceaccount", "debitaccount", "fromaccountid", "sourceaccountid") != "" && len(to) > 0
}

// pays reports whether the tool itself moves money.
func (c *call) pays(kind operation.Kind) bool {
	paid := c.moves(kind)
	traded := c.first("symbol", "ticker", "side", "ordertype") != "" // an order at a price per unit
	does, _, _ := c.verb()
	return paid && !traded && !c.requisitions() && (does == nil || does.Phrase != "records %s") && !c.has("link", "method", "request", "reminder", "limit", "budget", "plan", "cancel", "update", "delete")
}

// moves reports whether money moves by what the tool's name and arguments say.
func (c *call) moves(kind operation.Kind) bool {
	switch kind {
	case operation.KindSpend:
		return true
	case operation.KindPeople, operation.KindCreate, operation.KindSchedule:
		if c.toAccount() || c.has("payout", "payment", "transfer", "invoice", "refund", "money", "wallet", "funds") {
			return true
		}
	default:
	}
	to, _ := c.paid()
	return c.sends() && len(to) > 0 && c.gives("sums denominations")
}

// requisitions reports whether the tool writes an order, by which nothing is paid yet.
func (c *call) requisitions() bool {
	return c.has("purchase") && c.has("order", "requisition") && c.has("create", "draft", "add")
}

// settled corrects the consequence, whatever the judge assumed: money that moved is gone and
// with others, what is public has been read, and a webhook can be removed again.
func (c *call) settled(one *one, said wording.Sentence) {
	if one != nil && said == nil {
		said = one.said
	}
	if one == nil || len(said) == 0 {
		return
	}
	switch {
	case c.gone(said[0]):
		one.undo, one.reach = operation.Irreversible, operation.ReachPublic
	case one.partly(said):
		one.undo = operation.Partial
	case one.entitles(said[0], c.admits):
	case said[0].Phrase == exchanges:
		one.kind, one.undo, one.reach = operation.KindSpend, operation.Irreversible, operation.ReachShared
	case one.meanwhile(said), c.admitted(said):
		one.undo = operation.Irreversible
	case said[0].Phrase == asks:
		one.served()
	}
}

// gone reports whether a sentence tells that money moves, or that everybody reads what the tool makes.
func (c *call) gone(said wording.Clause) bool {
	return movesMoney(said) || said.Phrase == "creates an event: %s" && c.public()
}

// movesMoney reports whether a sentence tells that money moves.
func movesMoney(said wording.Clause) bool {
	return slices.ContainsFunc(append(money(), scheduled()), func(m moved) bool { return slices.Contains([]wording.Phrase{m.to, m.about, m.amount}, said.Phrase) })
}

// entitles corrects what follows if only the tool's name and arguments tell that somebody, or everyone, gets or loses a role,
// and reports whether it is so.
func (o *one) entitles(said wording.Clause, everyone bool) bool {
	switch {
	case !changesRole(said), !o.byName() && !o.unheardOf():
		return false
	case everyone:
		o.undo, o.reach = operation.Irreversible, operation.ReachPublic
	default:
		o.undo, o.reach = operation.Partial, operation.ReachShared
	}
	o.general = false
	return true
}

// changesRole reports whether a sentence tells that somebody gets or loses a role.
func changesRole(said wording.Clause) bool {
	return slices.Contains([]wording.Phrase{"grants the role %s to %s", "revokes the role %s from %s", "grants rights on %s to %s", "revokes rights on %s from %s"}, said.Phrase)
}

// meanwhile reports whether others make use of what a sentence tells as long as it stands: who came in
// through a port has come in, who read a post has read it, the mail that went on is there.
func (o *one) meanwhile(said wording.Sentence) bool {
	return strings.HasPrefix(string(said[0].Phrase), "opens the port %s of") && o.byName() || said[0].Phrase == "posts publicly: %s" ||
		slices.ContainsFunc(said, func(c wording.Clause) bool { return forwards.MatchString(string(c.Phrase)) })
}

// forwards matches what is said of a rule or a mailbox that passes mail on from then on.
var forwards = regexp.MustCompile(`\bforwards (the )?mail\b`)

// partly reports whether a sentence tells of something that can be undone in part: what a device
// can be told to undo, an event to which nobody is invited, a webhook.
func (o *one) partly(sentence wording.Sentence) bool {
	said := sentence[0]
	return o.kind == operation.KindPhysical && !anyThing(sentence, guarded) && goesBack(said) ||
		said.Phrase == "creates an event: %s" ||
		o.kind == operation.KindSend && len(said.Args) > 0 && said.Args[0].Phrase == "the webhook %s"
}

// admitted reports whether a device that keeps others out is set to something: they may have come in.
func (c *call) admitted(said wording.Sentence) bool {
	return said[0].Phrase == sets && c.operates() && anyThing(said, guarded)
}

// guarded reports whether what has this name keeps others out.
func guarded(name string) bool {
	return slices.ContainsFunc(reading.Words(name), func(w string) bool { return spoken.Is("devices guards", w) })
}

// goesBack reports whether telling a device the opposite undoes what it is told. It does not if
// somebody may have come in meanwhile.
func goesBack(said wording.Clause) bool {
	if len(said.Args) == 0 {
		return false
	}
	if len(said.Args) > 1 {
		how, _, _ := strings.Cut(said.Args[1].Text, " ") // what follows is to what it is set
		return spoken.Is("devices back", strings.Join(reading.Words(how), "-"))
	}
	return slices.ContainsFunc(spoken.List("devices back"), func(how string) bool {
		act, _, _ := spoken.ActIn(strings.Split(how, "-"))
		return act != nil && act.Phrase == said.Phrase
	})
}
