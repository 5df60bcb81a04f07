package slack

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval"
)

// deliveries records what came by HTTP since the start.
type deliveries struct {
	// press and other are when the last signed requests came: for interactivity, and for
	// commands and events.
	press, other time.Time
	// forged and late are when the last requests were refused: those that the platform did
	// not sign, and those that it signed more than five minutes off, by lag. forgeries
	// counts the former.
	forged, late time.Time
	lag          time.Duration
	forgeries    int
}

// signed returns when the platform's last signed request came.
func (d *deliveries) signed() time.Time {
	if d.press.After(d.other) {
		return d.press
	}
	return d.other
}

// signed reports whether the platform signed the body recently. The comparison takes the
// same time whatever is wrong.
func (c *Channel) signed(h http.Header, body []byte) bool {
	v, err := slackapi.NewSecretsVerifier(h, c.config.SigningSecret)
	if err == nil {
		if _, err = v.Write(body); err == nil {
			err = v.Ensure()
		}
	}
	if err == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if lag, ours := c.outOfTime(h, body); errors.Is(err, slackapi.ErrExpiredTimestamp) && ours {
		c.came.late, c.came.lag = time.Now(), lag
		return false
	}
	c.came.forged = time.Now()
	c.came.forgeries++
	return false
}

// outOfTime reports whether the platform signed the body at all, and how long ago by our
// clock. It is only for the doctor: such a request is refused.
func (c *Channel) outOfTime(h http.Header, body []byte) (lag time.Duration, ours bool) {
	stamp := h.Get("X-Slack-Request-Timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return 0, false
	}
	mac := hmac.New(sha256.New, []byte(c.config.SigningSecret))
	_, _ = fmt.Fprintf(mac, "v0:%s:%s", stamp, body) // a hash takes everything
	want := "v0=" + hex.EncodeToString(mac.Sum(nil))
	return time.Since(time.Unix(seconds, 0)), hmac.Equal([]byte(want), []byte(h.Get("X-Slack-Signature")))
}

// noteDelivery records when a signed request came.
func (c *Channel) noteDelivery(a *act) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.press != nil {
		c.came.press = time.Now()
	} else {
		c.came.other = time.Now()
	}
}

// deliveries reports what came by HTTP.
func (e *examiner) deliveries() {
	if e.alone {
		e.found(subjectPresses, approval.Unseen, "Slack delivers them by HTTP, to a daemon that serves.", "")
		return
	}
	e.mu.Lock()
	d := e.came
	e.mu.Unlock()
	at := func(t time.Time) string { return t.In(e.config.Zone).Format("15:04:05") }
	switch signed := d.signed(); {
	case d.late.After(signed) && d.late.After(d.forged):
		e.found(subjectPresses, approval.Wrong, fmt.Sprintf("The last request, at %s, was signed by Slack %s off by this machine's clock, so it was refused.", at(d.late), d.lag.Abs().Round(time.Second)),
			"Let the system keep its time. If its clock is right, somebody repeats old requests, and they are rightly refused.")
	case d.forged.After(signed):
		e.found(subjectPresses, approval.Wrong, fmt.Sprintf("The last request, at %s, was not signed with the app's secret; so were %d since the daemon started.", at(d.forged), d.forgeries),
			"If it was Slack's, copy METNOS_SLACK_SIGNING_SECRET again from the app's page, and let the proxy pass body and headers as they are.")
	case signed.IsZero():
		e.found(subjectPresses, approval.Noted, "No request of Slack's came since the daemon started; --tap shows whether presses come.", "")
	case d.press.IsZero():
		e.found(subjectPresses, approval.Noted, "Slack delivers commands and events, the last at "+at(d.other)+", and no press since the daemon started. "+
			"If one was pressed, Interactivity is off on the app's page, or its Request URL is not that of the manifest; --tap shows it.", "")
	default:
		e.found(subjectPresses, approval.Fine, "Slack delivers them, the last at "+at(d.press)+".", "")
	}
	if d.forgeries > 0 && !d.forged.After(d.signed()) {
		e.found(subjectPresses, approval.Noted, fmt.Sprintf("%d requests that Slack did not sign were refused since the daemon started, the last at %s.", d.forgeries, at(d.forged)), "")
	}
}

const (
	// mostSkew is how far off the platform's signatures may be, and noticedSkew how far off
	// they must be to be mentioned.
	mostSkew    = 5 * time.Minute
	noticedSkew = time.Minute
)

// clock compares this machine's clock with the platform's.
func (e *examiner) clock(date string) {
	const subject = "slack clock"
	theirs, err := http.ParseTime(date)
	if err != nil {
		return // the answer gives no time
	}
	off := time.Since(theirs)
	switch said := off.Abs().Round(time.Second); {
	case off.Abs() > mostSkew-noticedSkew && e.config.AppToken == "":
		e.found(subject, approval.Wrong, fmt.Sprintf("This machine's clock is %s off Slack's. What Slack signs is refused from five minutes on.", said), "Let the system keep its time.")
	case off.Abs() > noticedSkew:
		e.found(subject, approval.Noted, fmt.Sprintf("This machine's clock is %s off Slack's.", said), "")
	default:
		e.found(subject, approval.Fine, "This machine's clock agrees with Slack's.", "")
	}
}
