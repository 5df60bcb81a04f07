package headline

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// smallest says that an amount of money is told in the smallest unit of a currency that is not named.
const smallest wording.Phrase = "%s in the smallest unit of its currency"

// price matches what only identifies a price, and does not say how much it is: price_1Px, plan-gold.
var price = regexp.MustCompile(`^\p{L}+_\S*$|^\p{L}{4,}-\S*$`)

// code matches the code of a currency.
var code = regexp.MustCompile(`^[A-Z]{3,5}$`)

// whole matches an amount without a fraction.
var whole = regexp.MustCompile(`^-?[0-9]+$`)

// longestName is the size of the longest text, in bytes, that may be a name, an amount or a word for what
// is done. A longer one is a text, whatever it begins with.
const longestName = 1 << 10

// nameOf returns a text that may be a name, and nothing for a longer one.
func nameOf(text string) string {
	if len(text) > longestName {
		return ""
	}
	return text
}

// amount returns the amounts with their currencies. There is none if it is not given or is
// the price of one item among several.
func (c *call) amount() []wording.Clause {
	key := slices.IndexFunc(amounts(), func(key string) bool { return len(c.values([]string{key})) > 0 })
	of := c.first("quantity", "qty", "count", "units", "seats", "nights")
	if key < 0 || of != "" && of != "1" && (amounts()[key] == "price" || amounts()[key] == "unitamount") {
		return nil
	}
	return c.sums(amounts()[key])
}

// sums returns the amounts under a key with their currencies.
func (c *call) sums(key string) (sums []wording.Clause) {
	currencies := c.values(slices.Concat(spoken.List("sums currencies"), []string{"sourcecurrency", "fromcurrency", "targetcurrency", "unit", "asset", "token", "coin"}))
	if of := c.first("source", "from"); len(currencies) == 0 && code.MatchString(of) {
		currencies = []string{of} // it is exchanged for another one
	}
	for i, sum := range c.values([]string{key}) {
		if price.MatchString(strings.TrimSpace(nameOf(sum))) {
			continue
		}
		currency := ""
		if len(currencies) > 0 {
			currency = currencies[min(i, len(currencies)-1)]
		}
		sums = append(sums, told(sum, currency, c.minor(key)))
	}
	return sums
}

// exchanged describes an amount that a tool exchanges for another currency.
func (c *call) exchanged(operation.Kind) wording.Sentence {
	sum, into := c.amount(), c.first("tocurrency", "targetcurrency", "to", "target")
	if len(sum) != 1 || !code.MatchString(into) || !c.has("exchange", "swap", "convert") {
		return nil
	}
	return wording.Sentence{{Phrase: exchanges, Args: []wording.Clause{sum[0], {Text: into}}}}
}

// exchanges says that one currency is given for another.
const exchanges wording.Phrase = "exchanges %s for %s"

// currency takes the currency of an amount that is described by an object.
func (c *call) currency(amount map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(amount)) {
		if spoken.Is("sums currencies", reading.Normal(key)) {
			c.args["currency"] = append(c.args["currency"], texts(amount[key])...)
		}
	}
}

// told says an amount in its currency. minor says that it counts the currency's smallest unit.
func told(sum, currency string, minor bool) wording.Clause {
	minor = minor && whole.MatchString(sum)
	digits, known := fraction(currency)
	switch {
	case minor && !known && currency == "":
		return wording.Say(smallest, sum)
	case minor && !known:
		return wording.Say("%s in the smallest unit of %s", sum, strings.ToUpper(currency))
	case minor:
		sum = shifted(sum, digits) + " " + strings.ToUpper(currency)
	case currency != "":
		sum += " " + currency
	}
	return wording.Clause{Text: sum}
}

// fraction returns how many digits of an amount in a currency's smallest unit are its fraction. It is not
// known of those of which services count hundredths although nobody uses them.
func fraction(currency string) (digits int, known bool) {
	currency = strings.ToLower(currency)
	switch {
	case len(currency) != len("eur") || spoken.Is("sums doubted", currency):
		return 0, false
	case spoken.Is("sums undivided", currency):
		return 0, true
	case spoken.Is("sums thousandths", currency):
		return 3, true
	default:
		return 2, true
	}
}

// shifted puts the point before the last digits of a whole number.
func shifted(number string, digits int) string {
	if digits == 0 {
		return number
	}
	number, negative := strings.CutPrefix(number, "-")
	number = strings.Repeat("0", max(0, digits+1-len(number))) + number
	out := number[:len(number)-digits] + "." + number[len(number)-digits:]
	if negative {
		return "-" + out
	}
	return out
}

// minor reports whether the amounts under a key count the smallest unit of their currency: the key says
// so, or it is known of the server.
func (c *call) minor(key string) bool {
	return key == "amountmoney" || spoken.IsEnd("sums minor", key) || slices.ContainsFunc(c.words[:min(max(c.server, 1), len(c.words))], func(w string) bool { return spoken.Is("sums counted-by", w) })
}

// inUnits returns the name of an argument, what its key says in words, and its values: of a key of amounts that count
// millionths of their currency, those are the amounts in that currency, and the words do not speak of millionths.
func inUnits(name, key string, value any) (of, spelled string, values []string) {
	words, values := reading.Words(key), texts(value)
	if list, ok := value.([]any); ok && len(list) == 0 && name == "value" {
		values = []string{"[]"} // what is set to nothing is set
	}
	last := len(words) - 1
	if last < 1 || !spoken.Is("sums millionths", words[last]) || slices.ContainsFunc(values, func(sum string) bool { return !whole.MatchString(sum) }) {
		return name, strings.Join(words, " "), values
	}
	for i, sum := range values {
		values[i] = strings.TrimSuffix(strings.TrimRight(shifted(sum, len("000000")), "0"), ".")
	}
	return strings.TrimSuffix(name, words[last]), strings.Join(words[:last], " "), values
}

// several says one amount after the other.
func several(sums []wording.Clause) wording.Clause {
	if len(sums) == 1 {
		return sums[0]
	}
	texts := make([]string, len(sums))
	for i := range sums {
		texts[i] = sums[i].String()
	}
	return named(texts)
}

// paying returns for a card that people pay with the thing that says so, and any other thing itself.
func (c *call) paying(thing *spoken.Thing) *spoken.Thing {
	if slices.Contains(thing.Words, "card") && c.paysByCard() {
		thing, _, _ = spoken.ThingOf([]string{"payment-card"})
	}
	return thing
}

// paysByCard reports whether a card is one that people pay with.
func (c *call) paysByCard() bool {
	return (c.speaksOf("paying names") || c.gives("paying keys")) && !c.gives("paying lies")
}
