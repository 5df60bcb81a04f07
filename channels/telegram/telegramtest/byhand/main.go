// Command byhand is a Telegram for trying vaglio by hand: the Bot API on a loopback
// address, and one person, Ann, at the terminal. It needs no network and no account:
//
//	go run ./channels/telegram/telegramtest/byhand
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/metnos/vaglio/channels/telegram/telegramtest"
)

func main() {
	address := flag.String("listen", "127.0.0.1:8081", "loopback address of the Bot API")
	flag.Parse()
	if err := run(context.Background(), *address, os.Stdin, os.Stdout); err != nil {
		slog.New(slog.NewTextHandler(os.Stderr, nil)).Error("byhand ended", "error", err)
	}
}

const help = `Type what Ann writes, such as /start CODE or /pending, or:
  press 12 Allow once    presses the button of message 12
  reply 12 no, please    replies to message 12
  block, unblock         shuts the bot out, lets it in
  fail 5                 makes the bot's next 5 calls fail with 502
`

// run serves the Bot API until the input ends.
func run(ctx context.Context, address string, in io.Reader, out io.Writer) error {
	t := &table{Server: telegramtest.New(), ann: telegramtest.User{ID: 4711, FirstName: "Ann"}, out: out, shown: map[int]string{}}
	t.chat = t.Private(t.ann)
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: t.Server, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	var working sync.WaitGroup
	working.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			t.writef("the Bot API ended: %v\n", err)
		}
	})
	working.Go(func() { t.watch(done) })
	t.writef("In another terminal:\n\n  METNOS_TELEGRAM_TOKEN=%s vaglio serve --telegram-api http://%s\n\n%s\n", telegramtest.Token, l.Addr(), help)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" {
			t.obey(line)
		}
	}
	close(done)
	err = errors.Join(lines.Err(), server.Close())
	working.Wait()
	return err
}

// table is the terminal with a chat on it.
type table struct {
	*telegramtest.Server
	ann  telegramtest.User
	chat int64

	mu    sync.Mutex
	out   io.Writer
	shown map[int]string
	told  int
}

func (t *table) writef(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = fmt.Fprintf(t.out, format, args...) // a closed terminal has no reader
}

// watch shows what is new in the chat.
func (t *table) watch(done <-chan struct{}) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			for _, m := range t.Messages(t.chat) {
				t.show(m)
			}
			for _, a := range t.Answers()[t.told:] {
				t.told++
				t.writef("    (told: %s)\n", a.Text)
			}
		}
	}
}

// show writes a message that is new or was changed.
func (t *table) show(m telegramtest.Message) {
	text := m.Text
	if m.File != nil {
		text += fmt.Sprintf("\n[file %s, %d bytes]", m.File.Name, len(m.File.Data))
	}
	var labels []string
	for _, b := range m.Buttons() {
		labels = append(labels, "["+b.Text+"]")
	}
	text = strings.ReplaceAll(text+"\n"+strings.Join(labels, " "), "\n", "\n    ")
	if t.shown[m.ID] == text {
		return
	}
	note := ""
	if m.Edited {
		note = ", changed"
	}
	t.shown[m.ID] = text
	t.writef("\n#%d %s%s\n    %s\n", m.ID, m.From.FirstName, note, text)
}

// obey does what a line says.
func (t *table) obey(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	number, words, _ := strings.Cut(rest, " ")
	id, err := strconv.Atoi(number)
	switch {
	case verb == "press" && err == nil:
		if _, err := t.Press(t.ann, t.chat, id, words); err != nil {
			t.writef("%v\n", err)
		}
	case verb == "reply" && err == nil:
		t.Reply(t.ann, t.chat, id, words)
	case verb == "fail" && err == nil:
		t.Fail("", id, telegramtest.Fault{Code: http.StatusBadGateway, Body: "<html>Bad Gateway</html>"})
	case line == "block":
		t.Block(t.chat, "bot was blocked by the user")
	case line == "unblock":
		t.Block(t.chat, "")
	default:
		t.Say(t.ann, t.chat, line)
	}
}
