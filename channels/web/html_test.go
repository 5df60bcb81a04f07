package web_test

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// tree is a page, or a part of one, as a browser reads it.
type tree struct{ *html.Node }

func parse(t *testing.T, rec *httptest.ResponseRecorder) tree {
	t.Helper()
	n, err := html.Parse(strings.NewReader(rec.Body.String()))
	if err != nil {
		t.Fatal(err)
	}
	return tree{n}
}

// all returns the elements below n with one of the names.
func (n tree) all(names ...string) []tree {
	var found []tree
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && slices.Contains(names, d.Data) {
			found = append(found, tree{d})
		}
	}
	return found
}

func (n tree) attr(key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// id returns the element with the id.
func (n tree) id(t *testing.T, id string) tree {
	t.Helper()
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && (tree{d}).attr("id") == id {
			return tree{d}
		}
	}
	t.Fatalf("the page has no element with the id %q", id)
	return tree{}
}

// class returns the elements below n with the class.
func (n tree) class(class string) []tree {
	var found []tree
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && slices.Contains(strings.Fields(tree{d}.attr("class")), class) {
			found = append(found, tree{d})
		}
	}
	return found
}

// text returns what is written below n.
func (n tree) text() string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// words returns text with every gap as one space.
func (n tree) words() string { return strings.Join(strings.Fields(n.text()), " ") }

// name returns what a screen reader says for a control.
func (n tree) name() string {
	if l := n.attr("aria-label"); l != "" {
		return l
	}
	return n.words()
}

// tokens returns the values of the buttons below n, with their names.
func (n tree) tokens() map[string]string {
	found := map[string]string{}
	for _, b := range n.all("button", "input") {
		if b.attr("name") == "token" {
			found[b.attr("value")] = b.name()
		}
	}
	return found
}

// sound checks what holds for every page, whatever it shows.
func sound(t *testing.T, rec *httptest.ResponseRecorder) tree {
	t.Helper()
	h := rec.Result().Header
	for key, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
		"X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; " +
			"form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
	} {
		if got := h.Get(key); got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
	doc := parse(t, rec)
	ids := map[string]bool{}
	for d := range doc.Descendants() {
		if d.Type != html.ElementNode {
			continue
		}
		n := tree{d}
		if id := n.attr("id"); id != "" {
			if ids[id] {
				t.Errorf("two elements have the id %q", id)
			}
			ids[id] = true
		}
		for _, a := range d.Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
				t.Errorf("<%s> has the attribute %s, which the policy refuses", d.Data, a.Key)
			}
			local := strings.HasPrefix(a.Val, "/inbox") || strings.HasPrefix(a.Val, "#")
			if (a.Key == "href" || a.Key == "src" || a.Key == "action") && !local {
				t.Errorf("<%s %s=%q> leads elsewhere", d.Data, a.Key, a.Val)
			}
		}
	}
	soundNames(t, doc, ids)
	return doc
}

// soundNames checks what people rely on who do not see the page.
func soundNames(t *testing.T, doc tree, ids map[string]bool) {
	t.Helper()
	for d := range doc.Descendants() {
		if d.Type != html.ElementNode {
			continue
		}
		for _, key := range []string{"aria-labelledby", "aria-describedby", "for"} {
			if to := (tree{d}).attr(key); to != "" && !ids[to] {
				t.Errorf("<%s %s=%q> points at nothing", d.Data, key, to)
			}
		}
	}
	for _, n := range doc.all("button", "a", "summary") {
		if n.name() == "" {
			t.Errorf("<%s> has no name", n.Data)
		}
	}
	labels := map[string]bool{}
	for _, l := range doc.all("label") {
		labels[l.attr("for")] = true
	}
	for _, n := range doc.all("textarea", "select", "input") {
		kind := n.attr("type")
		if kind != "hidden" && kind != "checkbox" && !labels[n.attr("id")] {
			t.Errorf("<%s name=%q> has no label", n.Data, n.attr("name"))
		}
	}
	if got := len(doc.all("h1")); got != 1 {
		t.Errorf("the page has %d headings of the first order", got)
	}
	if doc.all("html")[0].attr("lang") == "" || len(doc.all("main")) != 1 {
		t.Error("the page states no language, or has no main part")
	}
	for _, s := range doc.all("script") {
		if s.attr("src") == "" || s.text() != "" {
			t.Errorf("the page holds a script of its own: %q", s.text())
		}
	}
	if n := len(doc.all("style", "iframe", "object", "embed", "base")); n != 0 {
		t.Errorf("the page has %d elements that the policy refuses", n)
	}
}
