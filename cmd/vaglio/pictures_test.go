package main

import (
	"bytes"
	"flag"
	"fmt"
	"html/template"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/metnos/vaglio/approval/report"
	charts "github.com/metnos/vaglio/channels/chart"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/templates"
)

// makePictures makes docs/pictures anew, as `make pictures` does.
var makePictures = flag.Bool("pictures", false, "make docs/pictures anew, with Chromium")

// maxPicture limits a picture's size in bytes, so that a clone of the repository stays small.
const maxPicture = 80 << 10

const sceneZone = "Europe/Rome"

// scene is a conversation in one language.
type scene struct {
	lang, words, allow string
	// tidy, prune and ship are what the user asked for: a push, a removal, a release.
	tidy, prune, ship string
	// rent and site are a payment and a script.
	rent, site string
}

func scenes() []scene {
	return []scene{
		{"en", "not on a Friday, please", "Allow once", "clean up the history of main", "drop the backups of 2019", "release 2.0", "pay the rent for December", "put the new site online"},
		{"it", "non di venerdì, per favore", "Consenti una volta", "metti in ordine la storia di main", "elimina i backup del 2019", "pubblica la 2.0", "paga l’affitto di dicembre", "metti online il nuovo sito"},
	}
}

// TestPictures lets a daemon post the cards that the README shows. With -pictures it draws them from
// the chat's messages; without, it checks that the pictures exist.
func TestPictures(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	for _, sc := range scenes() {
		asked, answered := sc.play(t)
		for name, messages := range map[string][]telegramtest.Message{"asked": asked, "answered": answered} {
			file := filepath.Join("..", "..", "docs", "pictures", name+"-"+sc.lang+".png")
			if *makePictures {
				drawPage(t, file, chatPage(), messages)
			}
			isThere(t, file, maxPicture)
		}
		week := filepath.Join("..", "..", "docs", "pictures", "week-"+sc.lang+".png")
		if *makePictures {
			sc.drawWeek(t, week)
		}
		isThere(t, week, maxPicture)
	}
}

func isThere(t *testing.T, file string, most int64) {
	t.Helper()
	if info, err := os.Stat(file); err != nil || info.Size() > most {
		t.Errorf("%s: %v %v; it must be there and have at most %d bytes: run make pictures", file, info, err, most)
	}
}

// drawWeek draws a digest's picture of a typical week.
func (sc *scene) drawWeek(t *testing.T, file string) {
	t.Helper()
	zone, err := time.LoadLocation(sceneZone)
	if err != nil {
		t.Fatal(err)
	}
	set, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	h := report.Hours{Minute: 8 * 60, Zone: zone}
	d := report.Digest{Window: h.Window(2026, time.November, 21)}
	for i, w := range append(h.Week(d.Window), d.Window) {
		n := [][]int{{143, 2, 1, 4, 0, 0}, {37, 0, 0, 1, 0, 0}, {212, 3, 2, 7, 1, 0}, {268, 1, 3, 5, 2, 0}, {305, 6, 4, 11, 1, 0}, {241, 2, 1, 6, 0, 0}, {288, 4, 3, 8, 1, 2}}[i]
		d.Week = append(d.Week, report.Day{Window: w, Counts: report.Counts{Approved: n[0], Guard: n[1], Fates: report.Fates{
			Denied: n[2], Allowed: n[3], Expired: n[4], Waiting: n[5],
		}}})
	}
	picture, err := charts.OfDigest(&d, set.In(templates.Lang(sc.lang), zone)).PNG()
	if err != nil {
		t.Fatal(err)
	}
	keep(t, file, picture)
}

// play proposes calls and answers them, and returns the chat's messages.
func (sc *scene) play(t *testing.T) (asked, answered []telegramtest.Message) {
	t.Helper()
	p := newChat(t)
	s := p.serve(newHome(t, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token, "METNOS_TELEGRAM_CHAT=4711",
		"METNOS_TELEGRAM_APPROVERS=4711", "METNOS_LANG="+sc.lang, "METNOS_TZ="+sceneZone))
	propose := func(turn, intent, executor, args string) {
		body := fmt.Sprintf(`{"turn_id":%q,"step":1,"intent":%q,"executor":%q,"args":%s,"context":{"capability":"code:exec","cwd":"/srv/app"}}`,
			turn, intent, executor, args)
		s.agent("POST", "/v1/proposals", body).answer(t)
	}
	card := func(command, intent string) telegramtest.Message {
		propose(command, intent, "shell_exec", fmt.Sprintf(`{"command":%q}`, command))
		return p.await("of "+command, func(m telegramtest.Message) bool {
			return strings.Contains(m.Text, command) && len(m.Buttons()) > 0
		})
	}
	over := func(m telegramtest.Message) telegramtest.Message {
		return p.await("that is over", func(o telegramtest.Message) bool { return o.ID == m.ID && len(o.Buttons()) == 0 })
	}
	asked = []telegramtest.Message{card("git push --force origin main", sc.tidy)}
	allowed, denied := card("rm -rf ../backups/2019", sc.prune), card("npm publish --access public", sc.ship)
	if _, err := p.press(allowed.ID, sc.allow); err != nil {
		t.Fatal(err)
	}
	p.Reply(p.ann, p.chat, denied.ID, sc.words)
	answered = []telegramtest.Message{over(allowed), over(denied)}
	propose("guarded", sc.ship, "read_file", `{"path":"/etc/shadow"}`)
	notice := p.await("that notes the denial", func(m telegramtest.Message) bool { return strings.HasPrefix(m.Text, "🛑") })
	s.stop()
	return asked, append(answered, notice)
}

// drawPage draws messages on their platform's page, as its app does.
func drawPage(t *testing.T, file string, of *template.Template, messages any) {
	t.Helper()
	var page strings.Builder
	if err := of.Execute(&page, messages); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(t.TempDir(), "chat.html")
	if err := os.WriteFile(source, []byte(page.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	drawn := filepath.Join(t.TempDir(), "chat.png")
	if err := browser(t).do(t, "draw", source, drawn); err != nil {
		t.Fatal(err)
	}
	picture, err := os.ReadFile(drawn)
	if err != nil {
		t.Fatal(err)
	}
	keep(t, file, picture)
}

// keep writes a picture to the documentation.
func keep(t *testing.T, file string, picture []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	picture, err := fewColours(picture)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, picture, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d bytes", file, len(picture))
}

// fewColours reduces a picture to its 256 most frequent colours, which for text are nearly all.
func fewColours(picture []byte) ([]byte, error) {
	const most = 256
	full, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	count := map[color.RGBA]int{}
	each := func(f func(x, y int, c color.RGBA)) {
		for y := full.Bounds().Min.Y; y < full.Bounds().Max.Y; y++ {
			for x := full.Bounds().Min.X; x < full.Bounds().Max.X; x++ {
				r, g, b, _ := full.At(x, y).RGBA()
				// Nobody sees the lowest bits.
				f(x, y, color.RGBA{uint8(r>>8) | 7, uint8(g>>8) | 7, uint8(b>>8) | 7, 255})
			}
		}
	}
	each(func(_, _ int, c color.RGBA) { count[c]++ })
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int { return count[b] - count[a] })
	var palette color.Palette
	for _, c := range colours[:min(most, len(colours))] {
		palette = append(palette, c)
	}
	few := image.NewPaletted(full.Bounds(), palette)
	index := map[color.RGBA]uint8{}
	each(func(x, y int, c color.RGBA) {
		i, ok := index[c]
		if !ok {
			i = uint8(palette.Index(c))
			index[c] = i
		}
		few.SetColorIndex(x, y, i)
	})
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few)
	return out.Bytes(), err
}

// marked returns the message's text with its entities as markup.
func marked(m telegramtest.Message) template.HTML {
	open := map[string]string{
		"bold": "<b>", "italic": "<i>", "code": "<code>", "pre": "<pre>", "blockquote": "<blockquote>", "expandable_blockquote": "<blockquote>",
	}
	units := utf16.Encode([]rune(m.Text))
	var b strings.Builder
	for at := 0; at <= len(units); at++ {
		for _, e := range slices.Backward(m.Entities) {
			if tag := open[e.Type]; tag != "" && e.Offset+e.Length == at {
				b.WriteString(strings.Replace(tag, "<", "</", 1))
			}
		}
		folded := at // until where a text is hidden behind its first line
		for _, e := range m.Entities {
			if tag := open[e.Type]; tag != "" && e.Offset == at {
				b.WriteString(tag)
			}
			if e.Type == "details" && e.Offset == at {
				summary, _, _ := strings.Cut(e.Of(m.Text), "\n")
				b.WriteString("▸ <b>" + template.HTMLEscapeString(summary) + "</b>\n")
				folded = at + e.Length
			}
		}
		if at == len(units) {
			break
		}
		if folded > at {
			at = folded - 1
			continue
		}
		one := units[at : at+1]
		if utf16.IsSurrogate(rune(units[at])) {
			one = units[at : at+2]
			at++
		}
		if one[0] == '\n' && strings.HasSuffix(b.String(), "</pre>") {
			continue // the app ends the line with the block
		}
		b.WriteString(glyph(string(utf16.Decode(one))))
	}
	return template.HTML(b.String())
}

// glyph draws the symbols in our texts for which the machine may have no font.
func glyph(s string) string {
	const from, to = `<svg viewBox="0 0 20 20">`, `</svg>`
	drawn := map[string]string{
		"⚠": `<path d="M10 2l9 16H1z" fill="#f7b731"/><path d="M10 7.5v5.5M10 14.6v1.8" stroke="#3b2f00" stroke-width="2"/>`,
		"🔸": `<path d="M10 4l6 6-6 6-6-6z" fill="#f5a623"/>`,
		"✅": `<rect x="1" y="1" width="18" height="18" rx="4" fill="#4bb34b"/><path d="M5 10.5l3.5 3.5L15 7" stroke="#fff" stroke-width="2.4" fill="none"/>`,
		"🚫": `<circle cx="10" cy="10" r="7.8" stroke="#e0393e" stroke-width="2.6" fill="none"/><path d="M4.6 4.6l10.8 10.8" stroke="#e0393e" stroke-width="2.6"/>`,
		"🛑": `<path d="M6 1h8l5 5v8l-5 5H6l-5-5V6z" fill="#e0393e"/>`,
		"⏳": `<path d="M5 2h10M5 18h10" stroke="#8a6d3b" stroke-width="2"/><path d="M6 2c0 5 4 5 4 8s-4 3-4 8h8c0-5-4-5-4-8s4-3 4-8z" fill="#f0c36d"/>`,
		"🔁": `<path d="M4 9a6 6 0 0 1 10-3.5M16 11a6 6 0 0 1-10 3.5" stroke="#2f86bd" stroke-width="2.2" fill="none"/><path d="M15.5 2v5h-5zM4.5 18v-5h5z" fill="#2f86bd"/>`,
		"❓": `<path d="M6 7c0-6 8-6 8-1 0 3-4 3-4 6.5M10 15.5v2.5" stroke="#e0393e" stroke-width="2.6" fill="none"/>`,
		"💬": `<path d="M2 4h16v10H9l-4 4v-4H2z" fill="#7fa8c9"/>`,
		"🟥": `<rect x="1.5" y="1.5" width="17" height="17" rx="2" fill="#e0393e"/>`,
		"📋": `<rect x="3" y="3" width="14" height="16" rx="2" fill="#b98752"/><path d="M5 5h10v12H5z" fill="#fff"/><path d="M7 9h6M7 12h6" stroke="#999"/>`,
		"🔏": `<path d="M6 9V6a4 4 0 0 1 8 0v3" stroke="#8a6d3b" stroke-width="2" fill="none"/><rect x="3.5" y="9" width="13" height="9" rx="2" fill="#f0b83d"/>`,
		"👤": `<circle cx="10" cy="6.5" r="4.5" fill="#6b7a8c"/><path d="M1.5 19c0-9 17-9 17 0z" fill="#6b7a8c"/>`,
	}
	if svg, ok := drawn[s]; ok {
		return from + svg + to
	}
	return template.HTMLEscapeString(s)
}

// clock returns the time shown in a message's corner, in the scenes' time zone.
func clock(at time.Time) (string, error) {
	zone, err := time.LoadLocation(sceneZone)
	return at.In(zone).Format("15:04"), err
}

func chatPage() *template.Template {
	return template.Must(template.New("chat").Funcs(template.FuncMap{"marked": marked, "clock": clock}).Parse(`<!DOCTYPE html><meta charset="utf-8"><style>
body { margin: 0 }
#chat { width: 400px; background: #cfdcc0; padding-bottom: 12px; font: 14px/1.38 Roboto, "Liberation Sans", "DejaVu Sans", sans-serif; color: #0f0f0f }
header { background: #527da3; color: #fff; padding: 9px 14px; display: flex; align-items: center; gap: 10px }
header span { width: 34px; height: 34px; border-radius: 50%; background: #e17076; display: grid; place-items: center; font-size: 17px }
header b { display: block; line-height: 1.15 } header small { color: #d5e3f0; font-size: 12px }
article { margin: 10px 44px 0 10px }
.text { display: flow-root; background: #fff; border-radius: 12px 12px 12px 4px; padding: 7px 11px 8px; white-space: pre-wrap; overflow-wrap: anywhere; box-shadow: 0 1px 1px #0002 }
code, pre { font: 12.5px/1.4 "Liberation Mono", "DejaVu Sans Mono", monospace; color: #2f6ea5 }
pre { margin: 3px 0; padding: 6px 8px; background: #eef3f8; border-left: 3px solid #6aa2d5; border-radius: 4px; white-space: pre-wrap }
pre code { color: inherit } blockquote { margin: 3px 0; padding: 4px 8px; border-left: 3px solid #6aa2d5; background: #eef3f8; border-radius: 4px; max-height: 24em; overflow: hidden }
time { float: right; margin: 3px 0 -4px 10px; font-size: 11.5px; color: #9aa3a9 }
.row { display: flex; gap: 4px; margin-top: 4px }
.row div { flex: 1 1 0; min-width: 0; text-align: center; background: #6f8a63cc; color: #fff; border-radius: 7px; padding: 7px 4px; font-weight: 500 }
.row .success { background: #3d9a50 } .row .danger { background: #c9413f } .row .dead { opacity: .55 }
svg { width: 1.05em; height: 1.05em; vertical-align: -0.17em }
</style><div id="chat"><header><span>V</span><div><b>Vaglio</b><small>bot</small></div></header>
{{range .}}<article><div class="text">{{marked .}}<time>{{clock .At}}</time></div>
{{range .Keyboard}}<div class="row">{{range .}}<div class="{{.Style}}{{if .Dead}} dead{{end}}">{{.Text}}</div>{{end}}</div>{{end}}</article>{{end}}</div>`))
}
