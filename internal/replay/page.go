package replay

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"

	"github.com/metnos/vaglio/templates"
)

//go:embed page.html
var pageSource string

// Page returns the result as a self-contained page, which loads nothing and runs no scripts.
func (r *Result) Page(texts *templates.Texts) ([]byte, error) {
	page, err := template.New("page.html").Funcs(template.FuncMap{
		"lang":  texts.Lang,
		"stamp": texts.Stamp,
		"t": func(key string, pairs ...any) string {
			values := templates.Values{}
			for i := 0; i+1 < len(pairs); i += 2 {
				values[fmt.Sprint(pairs[i])] = pairs[i+1]
			}
			return texts.Plain(templates.Key(key), values)
		},
		"outcome": func(g Group) string { return texts.Plain(templates.Key("web.replay.outcome."+g.Outcome), nil) },
	}).Parse(pageSource)
	if err != nil {
		return nil, fmt.Errorf("replay: read the page: %w", err)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, r); err != nil {
		return nil, fmt.Errorf("replay: write the page: %w", err)
	}
	return b.Bytes(), nil
}
