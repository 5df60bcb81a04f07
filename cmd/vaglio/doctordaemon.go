package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/internal/strictjson"
)

// examination is what a daemon says of itself to the doctor.
type examination struct {
	Version string `json:"version"`
	// Address is where it listens, and Public the inbox's address behind a proxy.
	Address string `json:"address"`
	Public  string `json:"public,omitempty"`
	// Channels are those that can be rehearsed.
	Channels []string `json:"channels"`
	chart
}

// rehearsal is how a test card fared.
type rehearsal struct {
	Finding approval.Finding `json:"finding"`
}

// patients are the channels that can be looked at.
func (d *daemon) patients() []patient {
	var all []patient
	if d.bot != nil {
		all = append(all, d.bot)
	}
	if d.slack != nil {
		all = append(all, d.slack)
	}
	return all
}

// examine looks at what only the daemon can.
func (d *daemon) examine(ctx context.Context) examination {
	x := examination{Version: version(), Address: d.address, Public: d.config.PublicURL, Channels: []string{}}
	if err := d.store.Ping(ctx); err != nil {
		x.found("store", approval.Wrong, "Nothing can be kept: "+sentence(err.Error()), "Make room on the disk, or mend it, and restart the daemon.")
	} else {
		x.found("store", approval.Fine, d.store.Path()+" takes what is decided.", "")
	}
	x.unread(d.dispatcher.Unread())
	if err := d.audit.Check(); err != nil {
		x.found("audit log", approval.Wrong, sentence(err.Error()), "Make room on the disk, and give "+d.config.auditDir()+" to the user who serves.")
	} else {
		x.found("audit log", approval.Fine, d.config.auditDir()+" takes what is judged.", "")
	}
	if info, err := os.Stat(d.policy); d.policy != "" && err == nil && info.ModTime().After(d.began) {
		x.found("policy", approval.Noted, d.policy+" changed after the daemon read it; a restart makes it count.", "")
	}
	if d.bot == nil {
		x.found("telegram", approval.Noted, "It is off: the daemon was started without METNOS_TELEGRAM_TOKEN.", "")
	}
	if d.slack == nil {
		x.found("slack", approval.Noted, "It is off: the daemon was started without METNOS_SLACK_BOT_TOKEN.", "")
	}
	d.examineChannels(ctx, &x)
	return x
}

// examineChannels looks at every channel: with care at those that can be
// examined, and at what the others say of themselves.
func (d *daemon) examineChannels(ctx context.Context, x *examination) {
	ill := map[string]bool{} // by channel that was examined
	for _, p := range d.patients() {
		x.Channels = append(x.Channels, p.Name())
		before := x.wrong()
		x.Findings = append(x.Findings, p.Examine(ctx, false)...)
		ill[p.Name()] = x.wrong() > before
	}
	for _, ch := range d.dispatcher.Channels() {
		told, examined := ill[ch.Name]
		switch {
		case told, examined && ch.OK():
		case ch.OK():
			x.found(ch.Name, approval.Fine, "It does well.", "")
		default:
			x.found(ch.Name, approval.Wrong, ch.Problem, cmp.Or(ch.Remedy, "The daemon's log says more."))
		}
	}
}

// rehearse sends a test card on one of the daemon's channels.
func (d *daemon) rehearse(ctx context.Context, channel string) (rehearsal, error) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-d.stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	defer func() { cancel(); <-ended }()
	return rehearsal{rehearse(ctx, d.patients(), channel, false)}, nil
}

// besideDaemon looks at what can be seen from outside the daemon, and tells what
// it said of itself.
func (d *doctor) besideDaemon(ctx context.Context, seen *examination) {
	d.found("daemon", approval.Fine, "One is serving, at "+seen.Address+".", "")
	if seen.Version != version() {
		d.found("daemon", approval.Noted, "It is another build than this command; a restart makes it this one.", "")
	}
	if d.config.DataDir != "" {
		d.folder()
		d.room()
		d.privacy()
		d.sockets(true)
	}
	d.ready(ctx, seen.Address)
	if seen.Public != "" {
		d.public(ctx, seen.Public)
	}
	d.Findings = append(d.Findings, seen.Findings...)
	if d.config.Telegram.Token != "" && !slices.Contains(seen.Channels, telegram.Name) {
		d.found("telegram", approval.Wrong, "This terminal has a bot token, and the daemon was started without one.", "Start the daemon with METNOS_TELEGRAM_TOKEN.")
	}
	if d.config.Slack.on() && !slices.Contains(seen.Channels, slack.Name) {
		d.found("slack", approval.Wrong, "This terminal has an app's token, and the daemon was started without one.", "Start the daemon with METNOS_SLACK_BOT_TOKEN.")
	}
	d.channels = seen.Channels
	d.rehearse = func(ctx context.Context, channel string) approval.Finding {
		var r rehearsal
		if err := askDaemonFor(ctx, rehearseFor, http.MethodPost, "/doctor/tap/"+channel, &r); err != nil {
			return rehearsed(channel, approval.Person{}, 0, err)
		}
		return r.Finding
	}
}

// readyAnswer is what /readyz says, as far as the doctor reads it.
type readyAnswer struct {
	Status string `json:"status"`
	Detail string `json:"detail"`
}

// ready asks the daemon's probe over its address.
func (d *doctor) ready(ctx context.Context, address string) {
	const subject = "readiness"
	status, body, err := fetch(ctx, "http://"+address+"/readyz")
	var a readyAnswer
	if err == nil {
		err = strictjson.UnmarshalLoose(body, &a)
	}
	switch {
	case err != nil:
		d.found(subject, approval.Wrong, "The daemon does not answer at "+address+": "+sentence(err.Error()), "Let this machine's firewall pass connections to itself, and restart the daemon.")
	case status != http.StatusOK:
		d.found(subject, approval.Wrong, fmt.Sprintf("The daemon is not ready (%d): %s.", status, strings.TrimSuffix(visible.Text(a.Detail), ".")), "Mend what is wrong below; the daemon's log says why.")
	default:
		d.found(subject, approval.Fine, "It answers there, and says "+visible.Text(a.Status)+".", "")
	}
}

// public asks the daemon through its proxy. Not every network lets a machine
// reach itself from outside, so that is no problem yet.
func (d *doctor) public(ctx context.Context, address string) {
	const subject = "public address"
	status, _, err := fetch(ctx, address+"/healthz")
	switch {
	case err != nil:
		d.found(subject, approval.Noted, address+" cannot be reached from this machine: "+sentence(err.Error()), "")
	case status != http.StatusOK:
		d.found(subject, approval.Wrong, fmt.Sprintf("%s answers %d to /healthz.", address, status), "Let the proxy lead to "+address+" on METNOS_LISTEN.")
	default:
		d.found(subject, approval.Fine, address+" leads to the daemon.", "")
	}
}

// fetch gets an address, once and without following it elsewhere.
func fetch(ctx context.Context, address string) (status int, body []byte, err error) {
	const within, most = 5 * time.Second, 64 << 10
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(io.LimitReader(res.Body, most))
	return res.StatusCode, body, err
}
