package doctor

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/regular"
	"github.com/metnos/vaglio/internal/seals"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/internal/terminal"
)

// Examination is what a daemon reports about itself to the doctor.
type Examination struct {
	Version string `json:"version"`
	// Address is where it listens, Public the inbox's address behind a proxy.
	Address string `json:"address"`
	Public  string `json:"public,omitempty"`
	// AgentSocket is where agents connect. Shared says that a group of other users may.
	AgentSocket string `json:"agent_socket,omitempty"`
	Shared      bool   `json:"shared,omitempty"`
	// Channels are the channels that can be rehearsed.
	Channels []string `json:"channels"`
	Chart
}

// Rehearsal is the result of sending a test card.
type Rehearsal struct {
	Finding approval.Finding `json:"finding"`
}

// Daemon is what the doctor can examine from within a daemon.
type Daemon struct {
	// Version is the build's version, Public the inbox's address behind a proxy, or empty.
	Version, Public string
	// Address returns the address that it listens on.
	Address func() string
	// AuditDir is the folder of the audit log.
	AuditDir string
	// Policy is the path of the policy file, or empty; Rules is what it held when it was read.
	Policy string
	Rules  []byte
	Store  Keeper
	Audit  Checker
	// Unread returns the records that could not be read so far.
	Unread func() []*approval.UnreadError
	// Health returns the state of the channels as they report it.
	Health   func() []dispatcher.ChannelHealth
	Patients []Patient
	// Telegram and Slack say whether these channels are on.
	Telegram, Slack bool
	// Gate watches the programs and settings that put the gate in front of agents. Off returns
	// those settings that turn off every hook.
	Gate *seals.Watch
	Off  func() []string
	// Silences returns the agents' sessions that go on without asking, a sentence each.
	Silences func() []string
	// Trial says what it means that agents run as the user who runs the daemon; empty if they
	// do not.
	Trial string
	// AgentSocket is where agents connect.
	AgentSocket string
	// Stopping is closed when the daemon begins to shut down.
	Stopping <-chan struct{}
}

// Keeper is a store that can check whether it still takes data.
type Keeper interface {
	Ping(ctx context.Context) error
	Path() string
}

// Checker is a log that can check whether it is writable.
type Checker interface {
	Check() error
}

// Examine checks what only the daemon itself can.
func (d *Daemon) Examine(ctx context.Context) Examination {
	x := Examination{Version: d.Version, Address: d.Address(), Public: d.Public, AgentSocket: d.AgentSocket, Shared: d.Trial == "", Channels: []string{}}
	if err := d.Store.Ping(ctx); err != nil {
		x.Found("store", approval.Wrong, "Nothing can be saved: "+terminal.Sentence(err.Error()), "Make room on the disk, or repair it, and restart the daemon.")
	} else {
		x.Found("store", approval.Fine, d.Store.Path()+" can be written.", "")
	}
	x.unread(d.Unread())
	if err := d.Audit.Check(); err != nil {
		x.Found("audit log", approval.Wrong, terminal.Sentence(err.Error()), "Make room on the disk, and give "+d.AuditDir+" to the user who serves.")
	} else {
		x.Found("audit log", approval.Fine, d.AuditDir+" can be written.", "")
	}
	d.examinePolicy(&x)
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

// examinePolicy compares the policy file with what the daemon goes by. A file that was moved into
// place may be older than the daemon.
func (d *Daemon) examinePolicy(x *Examination) {
	const subject = "policy"
	if d.Policy == "" {
		return
	}
	now, whole, err := regular.ReadTrusted(d.Policy, int64(len(d.Rules)))
	switch {
	case err != nil:
		x.Found(subject, approval.Wrong, "The daemon goes by a policy that it could not read again: "+terminal.Sentence(datafolder.Plain(err).Error()),
			"Put "+d.Policy+" back: without it the daemon does not start.")
	case !whole || !bytes.Equal(now, d.Rules):
		x.Found(subject, approval.Noted, d.Policy+" changed after the daemon read it; restart the daemon to use it.", "")
	}
}

// examineGate checks that what puts the gate in front of agents is unchanged.
func (d *Daemon) examineGate(x *Examination) {
	const subject = "gate"
	all := d.Gate.Changes()
	for _, text := range all {
		x.Found(subject, approval.Wrong, text, "If that was not you, put it back; then restart the daemon.")
	}
	for _, file := range d.Off() {
		x.Found(subject, approval.Wrong, file+" turns every hook off: the agent's calls bypass the gate.", "Turn them on again there.")
	}
	silences := d.Silences()
	for _, text := range silences {
		x.Found(subject, approval.Wrong, text, "vaglio status says whether the hook is off. A session that was resumed without hooks must be started again.")
	}
	if len(all)+len(silences) == 0 {
		x.Found(subject, approval.Fine, fmt.Sprintf("The programs and settings that put it before agents are unchanged since the start: %d.", d.Gate.Files()), "")
	}
}

// examineChannels examines the channels that support it, and adds what the others report about
// themselves.
func (d *Daemon) examineChannels(ctx context.Context, x *Examination) {
	ill := map[string]bool{} // by name of an examined channel
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
			x.Found(ch.Name, approval.Fine, "It works.", "")
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

// BesideDaemon checks what can be seen from outside the daemon, and adds what the daemon reported
// about itself.
func (d *Doctor) BesideDaemon(ctx context.Context, seen *Examination) {
	d.Found("daemon", approval.Fine, "It is running, at "+seen.Address+".", "")
	if seen.Version != d.Version {
		d.Found("daemon", approval.Noted, "It is another build than this command; restart it to use this one.", "")
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

// readyAnswer is the part of /readyz that the doctor reads.
type readyAnswer struct {
	Status string `json:"status"`
	Detail string `json:"detail"`
}

// ready asks the daemon's readiness probe over its address.
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
		d.Found(subject, approval.Wrong, fmt.Sprintf("The daemon is not ready (%d): %s.", status, strings.TrimSuffix(visible.Text(a.Detail), ".")), "Fix what is wrong below; the daemon's log says why.")
	default:
		d.Found(subject, approval.Fine, "It answers there, and says "+visible.Text(a.Status)+".", "")
	}
}

// public reaches the daemon through its proxy. A failure to connect is not reported as wrong,
// because not every network lets a machine reach itself from outside.
func (d *Doctor) public(ctx context.Context, address string) {
	const subject = "public address"
	status, _, err := fetch(ctx, address+"/healthz")
	switch {
	case err != nil:
		d.Found(subject, approval.Noted, address+" cannot be reached from this machine: "+terminal.Sentence(err.Error()), "")
	case status != http.StatusOK:
		d.Found(subject, approval.Wrong, fmt.Sprintf("%s answers %d to /healthz.", address, status), "Have the proxy forward to "+address+" on METNOS_LISTEN.")
	default:
		d.Found(subject, approval.Fine, address+" leads to the daemon.", "")
	}
}

// fetch requests an address once, without following redirects.
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
