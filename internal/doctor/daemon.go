package doctor

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
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/seals"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/internal/terminal"
)

// Examination is what a daemon says of itself to the doctor.
type Examination struct {
	Version string `json:"version"`
	// Address is where it listens, and Public the inbox's address behind a proxy.
	Address string `json:"address"`
	Public  string `json:"public,omitempty"`
	// AgentSocket is where agents connect; Shared says that a group of other users may.
	AgentSocket string `json:"agent_socket,omitempty"`
	Shared      bool   `json:"shared,omitempty"`
	// Channels are those that can be rehearsed.
	Channels []string `json:"channels"`
	Chart
}

// Rehearsal is how a test card fared.
type Rehearsal struct {
	Finding approval.Finding `json:"finding"`
}

// Daemon is what a daemon lets the doctor look at.
type Daemon struct {
	// Version is the build's, Public the inbox's address behind a proxy, or empty.
	Version, Public string
	// Address tells where it listens.
	Address func() string
	// AuditDir is the audit log's folder.
	AuditDir string
	// Policy is the path of the policy file, or empty; Began is when it was read.
	Policy string
	Began  time.Time
	Store  Keeper
	Audit  Checker
	// Unread are the records that could not be read so far.
	Unread func() []*approval.UnreadError
	// Health tells how the channels stand by their own account.
	Health   func() []dispatcher.ChannelHealth
	Patients []Patient
	// Telegram and Slack say whether they are on.
	Telegram, Slack bool
	// Gate looks after the programs and settings that put the gate before agents,
	// Off are the settings among them that turn every hook off.
	Gate *seals.Watch
	Off  func() []string
	// Trial says what it means that agents share the user who serves; empty is
	// that they do not.
	Trial string
	// AgentSocket is where agents connect.
	AgentSocket string
	// Stopping is closed when the daemon's end begins.
	Stopping <-chan struct{}
}

// Keeper is a store that can be asked whether it keeps what it is given.
type Keeper interface {
	Ping(ctx context.Context) error
	Path() string
}

// Checker is a log that can be asked whether it can be written.
type Checker interface {
	Check() error
}

// Examine looks at what only the daemon can.
func (d *Daemon) Examine(ctx context.Context) Examination {
	x := Examination{Version: d.Version, Address: d.Address(), Public: d.Public, AgentSocket: d.AgentSocket, Shared: d.Trial == "", Channels: []string{}}
	if err := d.Store.Ping(ctx); err != nil {
		x.Found("store", approval.Wrong, "Nothing can be kept: "+terminal.Sentence(err.Error()), "Make room on the disk, or mend it, and restart the daemon.")
	} else {
		x.Found("store", approval.Fine, d.Store.Path()+" takes what is decided.", "")
	}
	x.unread(d.Unread())
	if err := d.Audit.Check(); err != nil {
		x.Found("audit log", approval.Wrong, terminal.Sentence(err.Error()), "Make room on the disk, and give "+d.AuditDir+" to the user who serves.")
	} else {
		x.Found("audit log", approval.Fine, d.AuditDir+" takes what is judged.", "")
	}
	if info, err := os.Stat(d.Policy); d.Policy != "" && err == nil && info.ModTime().After(d.Began) {
		x.Found("policy", approval.Noted, d.Policy+" changed after the daemon read it; a restart makes it count.", "")
	}
	d.examineGate(&x)
	x.Boundary(d.Trial)
	if !d.Telegram {
		x.Found("telegram", approval.Noted, "It is off: the daemon was started without METNOS_TELEGRAM_TOKEN.", "")
	}
	if !d.Slack {
		x.Found("slack", approval.Noted, "It is off: the daemon was started without METNOS_SLACK_BOT_TOKEN.", "")
	}
	d.examineChannels(ctx, &x)
	x.Sandbox(ctx)
	return x
}

// examineGate tells whether what puts the gate before agents is as it was.
func (d *Daemon) examineGate(x *Examination) {
	const subject = "gate"
	all := d.Gate.Changes()
	for _, text := range all {
		x.Found(subject, approval.Wrong, text, "If that was not you, put it back; then restart the daemon.")
	}
	for _, file := range d.Off() {
		x.Found(subject, approval.Wrong, file+" turns every hook off: the agent's calls do not pass.", "Turn them on again there.")
	}
	if len(all) == 0 {
		x.Found(subject, approval.Fine, fmt.Sprintf("The programs and settings that put it before agents are as they were at the start: %d.", d.Gate.Files()), "")
	}
}

// examineChannels looks at every channel: with care at those that can be
// examined, and at what the others say of themselves.
func (d *Daemon) examineChannels(ctx context.Context, x *Examination) {
	ill := map[string]bool{} // by channel that was examined
	for _, p := range d.Patients {
		x.Channels = append(x.Channels, p.Name())
		before := x.Wrong()
		x.Findings = append(x.Findings, p.Examine(ctx, false)...)
		ill[p.Name()] = x.Wrong() > before
	}
	for _, ch := range d.Health() {
		told, examined := ill[ch.Name]
		switch {
		case told, examined && ch.OK():
		case ch.OK():
			x.Found(ch.Name, approval.Fine, "It does well.", "")
		default:
			x.Found(ch.Name, approval.Wrong, ch.Problem, cmp.Or(ch.Remedy, "The daemon's log says more."))
		}
	}
}

// Rehearse sends a test card on one of the daemon's channels.
func (d *Daemon) Rehearse(ctx context.Context, channel string) (Rehearsal, error) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-d.Stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	defer func() { cancel(); <-ended }()
	return Rehearsal{Rehearse(ctx, d.Patients, channel, false)}, nil
}

// BesideDaemon looks at what can be seen from outside the daemon, and tells what
// it said of itself.
func (d *Doctor) BesideDaemon(ctx context.Context, seen *Examination) {
	d.Found("daemon", approval.Fine, "One is serving, at "+seen.Address+".", "")
	if seen.Version != d.Version {
		d.Found("daemon", approval.Noted, "It is another build than this command; a restart makes it this one.", "")
	}
	if d.DataDir != "" {
		d.folder()
		d.room()
		d.privacy()
		d.sockets(seen)
	}
	d.ready(ctx, seen.Address)
	if seen.Public != "" {
		d.public(ctx, seen.Public)
	}
	d.Findings = append(d.Findings, seen.Findings...)
	if d.Telegram && !slices.Contains(seen.Channels, telegram.Name) {
		d.Found("telegram", approval.Wrong, "This terminal has a bot token, and the daemon was started without one.", "Start the daemon with METNOS_TELEGRAM_TOKEN.")
	}
	if d.Slack && !slices.Contains(seen.Channels, slack.Name) {
		d.Found("slack", approval.Wrong, "This terminal has an app's token, and the daemon was started without one.", "Start the daemon with METNOS_SLACK_BOT_TOKEN.")
	}
}

// readyAnswer is what /readyz says, as far as the doctor reads it.
type readyAnswer struct {
	Status string `json:"status"`
	Detail string `json:"detail"`
}

// ready asks the daemon's probe over its address.
func (d *Doctor) ready(ctx context.Context, address string) {
	const subject = "readiness"
	status, body, err := fetch(ctx, "http://"+address+"/readyz")
	var a readyAnswer
	if err == nil {
		err = strictjson.UnmarshalLoose(body, &a)
	}
	switch {
	case err != nil:
		d.Found(subject, approval.Wrong, "The daemon does not answer at "+address+": "+terminal.Sentence(err.Error()), "Let this machine's firewall pass connections to itself, and restart the daemon.")
	case status != http.StatusOK:
		d.Found(subject, approval.Wrong, fmt.Sprintf("The daemon is not ready (%d): %s.", status, strings.TrimSuffix(visible.Text(a.Detail), ".")), "Mend what is wrong below; the daemon's log says why.")
	default:
		d.Found(subject, approval.Fine, "It answers there, and says "+visible.Text(a.Status)+".", "")
	}
}

// public asks the daemon through its proxy. Not every network lets a machine
// reach itself from outside, so that is no problem yet.
func (d *Doctor) public(ctx context.Context, address string) {
	const subject = "public address"
	status, _, err := fetch(ctx, address+"/healthz")
	switch {
	case err != nil:
		d.Found(subject, approval.Noted, address+" cannot be reached from this machine: "+terminal.Sentence(err.Error()), "")
	case status != http.StatusOK:
		d.Found(subject, approval.Wrong, fmt.Sprintf("%s answers %d to /healthz.", address, status), "Let the proxy lead to "+address+" on METNOS_LISTEN.")
	default:
		d.Found(subject, approval.Fine, address+" leads to the daemon.", "")
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
