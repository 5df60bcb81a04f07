package web

import (
	"testing"

	"github.com/metnos/vaglio/channels/cardtext"
)

// TestWhatOthersWroteIsShownAsTheyWroteIt checks that only our own words begin a line with a capital.
func TestWhatOthersWroteIsShownAsTheyWroteIt(t *testing.T) {
	t.Parallel()
	ours := func(s string) cardtext.Piece { return cardtext.Piece{Kind: cardtext.Ours, Text: s} }
	theirs := func(s string) cardtext.Piece { return cardtext.Piece{Kind: cardtext.Theirs, Text: s} }
	for want, said := range map[string]cardtext.Text{
		`Runs <b class="outside">make</b> twice`:    {ours("runs "), theirs("make"), ours(" twice")},
		`<b class="outside">make</b>is run`:         {theirs("make"), ours("is run")},
		`<b class="outside">&lt;make&gt;</b>`:       {theirs("<make>")},
		`È <b class="outside">make</b>, &lt;so&gt;`: {ours("è "), theirs("make"), ours(", <so>")},
	} {
		if got := string(saidOf(said)); got != want {
			t.Errorf("shown is %s, want %s", got, want)
		}
	}
}
