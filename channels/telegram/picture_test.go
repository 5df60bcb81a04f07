package telegram_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/payloads"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
)

// pair returns the messages of the last digest: the picture's and the text's.
func (w *world) pair() (picture, text telegramtest.Message) {
	w.t.Helper()
	all := w.server.Messages(w.chat)
	if len(all) < 2 {
		w.t.Fatalf("there are %d messages", len(all))
	}
	return all[len(all)-2], all[len(all)-1]
}

// TestAPictureMeetsTrouble checks that whatever happens to the picture, the text comes, and
// that neither comes twice.
func TestAPictureMeetsTrouble(t *testing.T) {
	if testing.Short() {
		t.Skip("it draws many pictures; the plain run has it")
	}
	gateway := telegramtest.Fault{Code: 502, Body: "<html>bad gateway</html>"}
	for name, tt := range map[string]struct {
		before func(*world)
		photo  bool
	}{
		"Banned":         {func(w *world) { w.server.BanPhotos(w.chat, true) }, false},
		"Fails once":     {func(w *world) { w.server.Fail("editMessageMedia", 1, gateway) }, true},
		"Fails for good": {func(w *world) { w.server.Fail("editMessageMedia", 2, gateway) }, false},
		"Answer was lost": {func(w *world) {
			w.server.Fail("editMessageMedia", 2, telegramtest.Fault{Code: 502, Body: "x", After: true})
		}, true},
		"Refused": {func(w *world) {
			w.server.Fail("editMessageMedia", 1, telegramtest.Fault{Code: 400, Description: "Bad Request: IMAGE_PROCESS_FAILED"})
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				ref, err := w.channel.OpenDigest(t.Context(), "day", false)
				if err != nil {
					t.Fatal(err)
				}
				tt.before(w)
				n := len(w.server.Messages(w.chat))
				for range 2 { // as after a crash
					if err := w.channel.ShowDigest(t.Context(), ref, payloads.Digest(1)); err != nil {
						t.Fatal(err)
					}
				}
				picture, text := w.pair()
				if len(w.server.Messages(w.chat)) != n || !strings.Contains(text.Text, "Digest, ") {
					t.Errorf("the text is %q of %d messages", text.Text, len(w.server.Messages(w.chat)))
				}
				if !strings.Contains(picture.Text, "In the picture: ") {
					t.Errorf("it says %q", picture.Text)
				}
				// What failed at first is tried again with the text.
				if again := name == "Fails for good" || name == "Refused"; (picture.Photo != nil) != (tt.photo || again) {
					t.Errorf("the picture is %v", picture.Photo != nil)
				}
				if h := w.channel.Health(); !h.OK() {
					t.Errorf("the channel is ill: %+v", h)
				}
			})
		})
	}
}

func TestAPictureWaitsForTheRateLimit(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		ref, err := w.channel.OpenDigest(t.Context(), "day", false)
		if err != nil {
			t.Fatal(err)
		}
		w.server.Fail("editMessageMedia", 1, telegramtest.Fault{Code: 429, Description: "Too Many Requests: retry after 7", RetryAfter: 7})
		retry, ok := errors.AsType[*approval.RetryError](w.channel.ShowDigest(t.Context(), ref, payloads.Digest(1)))
		if _, text := w.pair(); !ok || retry.After.Seconds() != 7 || !strings.Contains(text.Text, "Digest, ") {
			t.Errorf("%+v, and the text is %q", retry, text.Text)
		}
	})
}

func TestADigestWithoutRoomForItsPicture(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		n := len(w.server.Messages(w.chat))
		ref, err := w.channel.OpenDigest(t.Context(), "day", false)
		if err != nil {
			t.Fatal(err)
		}
		picture, text := w.pair()
		w.server.Delete(w.chat, picture.ID)
		if err := w.channel.ShowDigest(t.Context(), ref, payloads.Digest(1)); err != nil {
			t.Errorf("its picture's message was deleted: %v", err)
		}
		if all := w.server.Messages(w.chat); len(all) != n+1 || all[n].ID != text.ID || !strings.Contains(all[n].Text, "Digest, ") {
			t.Errorf("there is %+v", all[n:])
		}
		ref, err = w.channel.OpenDigest(t.Context(), "day", false)
		if err != nil {
			t.Fatal(err)
		}
		picture, text = w.pair()
		w.server.Delete(w.chat, text.ID)
		if err := w.channel.ShowDigest(t.Context(), ref, payloads.Digest(1)); !errors.Is(err, approval.ErrGone) {
			t.Errorf("its text's message was deleted: %v", err)
		}
		if m, _ := w.server.Message(w.chat, picture.ID); m.Photo != nil {
			t.Error("the picture came, and comes again in a new message")
		}
		// A reference to one message, from before digests had pictures.
		if err := w.channel.ShowDigest(t.Context(), strings.TrimSuffix(ref, ref[strings.LastIndex(ref, ":"):]), payloads.Digest(1)); !errors.Is(err, approval.ErrGone) {
			t.Errorf("an older reference: %v", err)
		}
	})
}

// TestADigestOfOneMessage checks that if the second message cannot be sent, the first holds
// the text.
func TestADigestOfOneMessage(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		n := len(w.server.Messages(w.chat))
		w.server.Fail("sendMessage", 1, telegramtest.Fault{Pass: true})
		w.server.Fail("sendMessage", 1, telegramtest.Fault{Code: 429, Description: "Too Many Requests", RetryAfter: 3})
		ref, err := w.channel.OpenDigest(t.Context(), "day", false)
		if err == nil {
			err = w.channel.ShowDigest(t.Context(), ref, payloads.Digest(1))
		}
		if _, ok := errors.AsType[*approval.RetryError](err); !ok {
			t.Errorf("within the chat's pause: %v", err)
		}
		time.Sleep(4 * time.Second)
		if err := w.channel.ShowDigest(t.Context(), ref, payloads.Digest(1)); err != nil {
			t.Error(err)
		}
		if all := w.server.Messages(w.chat); len(all) != n+1 || !strings.Contains(all[n].Text, "Digest, ") {
			t.Errorf("there is %+v", all[n:])
		}
	})
}

func TestTheAskedDigestHasAPicture(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.say(ann(), 0, "/digest")
		text, picture := w.pair()
		if picture.Photo == nil || !strings.Contains(text.Text, "Digest, ") || picture.ReplyTo != text.ReplyTo || !picture.Silent {
			t.Errorf("%+v", picture)
		}
		w.server.BanPhotos(w.chat, true)
		w.say(ann(), 0, "/digest")
		if m := w.last(); m.Photo != nil || !strings.Contains(m.Text, "Digest, ") {
			t.Errorf("%+v", m)
		}
		if h := w.channel.Health(); !h.OK() {
			t.Errorf("the channel is ill: %+v", h)
		}
	})
}
