package resume

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/metnos/vaglio/internal/datafolder"
)

// Key signs webhooks as specified by Standard Webhooks.
type Key []byte

// keyMark is the prefix of a key in writing.
const keyMark = "whsec_"

// LoadKey reads the key from its file. If the file is missing, it creates one with a new key.
func LoadKey(file string) (Key, error) {
	secret, err := datafolder.ReadSecret(file)
	if errors.Is(err, fs.ErrNotExist) {
		key := make(Key, 32)
		_, _ = rand.Read(key) // it never returns an error
		if err := datafolder.Write(file, keyMark+base64.StdEncoding.EncodeToString(key)+"\n"); err != nil {
			return nil, fmt.Errorf("the key of webhooks: %w", err)
		}
		return key, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the key of webhooks: %w", err)
	}
	text, marked := strings.CutPrefix(string(secret), keyMark)
	key, err := base64.StdEncoding.DecodeString(text)
	if !marked || err != nil || len(key) < 24 || len(key) > 64 {
		return nil, fmt.Errorf("the key of webhooks: %s must hold whsec_ and 24 to 64 bytes in base64; remove it for a new one", file)
	}
	return key, nil
}

// sign sets a webhook's headers.
func (k Key) sign(h http.Header, id string, at time.Time, body []byte) {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, k)
	_, _ = mac.Write([]byte(id + "." + stamp + "."))
	_, _ = mac.Write(body)
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", stamp)
	h.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
