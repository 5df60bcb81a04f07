package web_test

import (
	"encoding/base64"
	"flag"
	"html/template"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// makePictures redraws the contact sheet, as `make pictures` does.
var makePictures = flag.Bool("pictures", false, "draw docs/pictures/sheet.jpg anew, with Chromium")

// assets is the folder of what the inbox's pages load.
var assets = filepath.Join("..", "..", "..", "channels", "web", "assets")

// maxSheet is the maximum size of the contact sheet, in bytes, so that clones stay small.
const maxSheet = 1 << 20

// TestContactSheet draws every page of the inbox, in both languages and themes and on a phone, on
// one sheet with the chats' cards. Without -pictures it only checks that the sheet exists.
func TestContactSheet(t *testing.T) {
	file := filepath.Join("..", "..", "..", "docs", "pictures", "sheet.jpg")
	if *makePictures {
		drawIcon(t)
		drawSheet(t, file)
	}
	if info, err := os.Stat(file); err != nil || info.Size() > maxSheet {
		t.Errorf("%s: %v %v; it must be there and have at most %d bytes: run make pictures", file, info, err, maxSheet)
	}
}

// drawIcon draws the icon for phones' home screens, which do not take SVG. Phones round its corners
// themselves.
func drawIcon(t *testing.T) {
	t.Helper()
	svg, err := os.ReadFile(filepath.Join(assets, "icon.svg"))
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(t.TempDir(), "icon.html")
	text := "<!DOCTYPE html><style>body { margin: 0 } svg { display: block; width: 180px; background: #1f6b4a }</style>" + string(svg)
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b := browser(t)
	b.do(chromedp.EmulateViewport(180, 180), chromedp.Navigate((&url.URL{Scheme: "file", Path: source}).String()), see("svg"))
	if err := os.WriteFile(filepath.Join(assets, "icon.png"), get(b, chromedp.CaptureScreenshot()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// shot is one entry on the sheet.
type shot struct {
	Path, Title string
	Wide, Tall  int64
	Pictures    []template.URL
}

// sheetPages returns the pages on the sheet.
func sheetPages() []shot {
	var all []shot
	for _, path := range []string{
		"/inbox", "/inbox?ask=plan4711", "/inbox?ask=longcall", "/inbox/ask/worked01", "/inbox/history", "/inbox/turn/claude-code/t-81",
		"/inbox/statistics", "/inbox/digest", "/inbox/try", "/inbox/edit/rmbuild1-1", "/inbox/judgement/" + url.PathEscape(judgement), "/inbox/passkeys",
		"/inbox/login", "/inbox/nothing",
	} {
		all = append(all, shot{Path: path, Title: path, Wide: 1280, Tall: 860})
	}
	for _, path := range []string{"/inbox", "/inbox?ask=rmbuild1", "/inbox?ask=longcall", "/inbox/history", "/inbox/turn/claude-code/t-81", "/inbox/statistics"} {
		all = append(all, shot{Path: path, Title: path + ", on a phone", Wide: 390, Tall: 844})
	}
	return all
}

func drawSheet(t *testing.T, file string) {
	t.Helper()
	all := sheetPages()
	b := browser(t)
	for _, lang := range []string{"en", "it"} {
		d := full()
		d.open("longcall", proposal(script()))
		d.look("byagent", "With it TestAdd fails: 2 + 3 is no longer 5.")
		in := newInbox(t, d)
		base := in.serve()
		b.speak(lang)
		b.enter(in, base)
		for _, scheme := range []string{"light", "dark"} {
			b.scheme(scheme)
			for i := range all {
				one := &all[i]
				b.do(chromedp.EmulateViewport(one.Wide, one.Tall), chromedp.Navigate(base+one.Path), see("#main"))
				one.Pictures = append(one.Pictures, dataURL(get(b, chromedp.CaptureScreenshot())))
			}
		}
	}
	chats := shot{Title: "Cards in a chat, also of a payment, a script and a plan, and the week of a digest"}
	for _, name := range []string{"asked-en", "answered-en", "kinds-en", "long-en", "slack-en", "slack-kinds-en", "week-en", "asked-it", "answered-it", "kinds-it", "long-it", "slack-it", "slack-kinds-it", "week-it"} {
		picture, err := os.ReadFile(filepath.Join(filepath.Dir(file), name+".png"))
		if err != nil {
			t.Fatal(err)
		}
		chats.Pictures = append(chats.Pictures, dataURL(picture))
	}
	var text strings.Builder
	if err := sheet().Execute(&text, append(all, chats)); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(t.TempDir(), "sheet.html")
	if err := os.WriteFile(source, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	b.scheme("light")
	b.do(chromedp.EmulateViewport(1760, 1000), chromedp.Navigate((&url.URL{Scheme: "file", Path: source}).String()), see("section"))
	const quality = 32 // JPEG quality out of 100: words stay sharp enough.
	picture := get(b, chromedp.FullScreenshot(quality))
	if err := os.WriteFile(file, picture, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d bytes", file, len(picture))
}

func dataURL(picture []byte) template.URL {
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(picture))
}

// sheet returns the page that shows the pictures.
func sheet() *template.Template {
	return template.Must(template.New("sheet").Parse(`<!DOCTYPE html><meta charset="utf-8"><style>
body { margin: 0; padding: 24px; background: #e9e8e4; color: #222; font: 15px/1.4 "Liberation Sans", "DejaVu Sans", sans-serif }
h1 { margin: 0 0 4px; font-size: 24px } p { margin: 0 0 8px; color: #555 }
section { margin-top: 22px } h2 { margin: 0 0 8px; font: 600 14px/1.3 "Liberation Mono", monospace }
div { display: flex; gap: 16px; align-items: flex-start }
img { display: block; width: 416px; border-radius: 6px; box-shadow: 0 1px 4px #0004 }
main { display: flex; flex-wrap: wrap; gap: 0 24px } section { flex: none }
.small img { width: 199px } .small div { gap: 10px } .chats { max-width: 100% } .chats div { flex-wrap: wrap } .chats img { width: 274px }
</style><h1>vaglio</h1><p>Every page in English and Italian, light and dark.</p>
<main>{{range .}}<section class="{{if not .Wide}}chats{{else if lt .Wide 1000}}small{{end}}"><h2>{{.Title}}</h2><div>{{range .Pictures}}<img src="{{.}}" alt="">{{end}}</div></section>
{{end}}</main>`))
}
