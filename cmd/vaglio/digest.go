package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/digestcheck"
	"github.com/metnos/vaglio/internal/terminal"
)

// digestWithin bounds how long a digest may take: it reads every record of two weeks.
const digestWithin = 2 * time.Minute

func newDigest() *cobra.Command {
	var date, picture string
	var send, check, asJSON bool
	cmd := &cobra.Command{
		Use:   "digest [day]",
		Short: "Show what was vetoed on a day, and what became of it",
		Long: `Show what was judged and vetoed in the window of a digest, and what became of it by
the window's end. The day is the one on which the digest was due, such as 2026-11-21.
Without it the window is the time since the last digest was due; --send and --check then
take the last window that is over. The digest is computed from
what the daemon keeps. --check compares every verdict of the window with the lines of
the audit log, and names those that only one of them has. A step that an agent
repeated is in the log each time and counts once in a digest; that is not a difference.
What a crash of the daemon may have lost, and what a damaged part of the turn log may
hold, is marked as such.

Exit codes: 0 shown, and --check found no difference; 1 no daemon, no such digest, a
channel on which it could not be sent, or --check found a difference; 2 a mistake in
the command line or in the configuration.`,
		Example: "  vaglio digest\n  vaglio digest 2026-11-21 --check\n  vaglio digest --send\n  vaglio digest --png week.png",
		Args:    asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if date != "" && date != args[0] {
					return &exitError{exitUsage, fmt.Errorf("--date %s and %s are two days; name one", date, args[0])}
				}
				date = args[0]
			}
			if cmd.Flags().Changed("png") {
				return drawDigest(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), date, picture)
			}
			path := "/digest?" + url.Values{"date": {date}}.Encode()
			if send {
				return sendDigest(cmd.Context(), cmd.OutOrStdout(), path)
			}
			if check {
				return checkDigest(cmd.Context(), cmd.OutOrStdout(), date)
			}
			if asJSON {
				var d report.Digest
				if err := askDaemonFor(cmd.Context(), digestWithin, http.MethodGet, path, &d); err != nil {
					return err
				}
				return terminal.JSON(cmd.OutOrStdout(), d)
			}
			var said owner.Said
			if err := askDaemonFor(cmd.Context(), digestWithin, http.MethodGet, strings.Replace(path, "?", "/text?", 1), &said); err != nil {
				return err
			}
			_, err := io.WriteString(cmd.OutOrStdout(), said.Text)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&date, "date", "", "the same as [day]")
	f.BoolVar(&send, "send", false, "send it to every channel that shows digests")
	f.BoolVar(&check, "check", false, "compare it with the audit log")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.StringVar(&picture, "png", "", "draw the week up to it as PNG, into a file that it replaces, or - for the output")
	cmd.MarkFlagsMutuallyExclusive("send", "check", "json", "png")
	return cmd
}

// sendDigest makes the daemon send a digest, and prints where it was sent.
func sendDigest(ctx context.Context, w io.Writer, path string) error {
	var a owner.Sending
	if err := askDaemonFor(ctx, digestWithin, http.MethodPost, path, &a); err != nil {
		return err
	}
	if len(a.Channels) > 0 {
		if _, err := fmt.Fprintln(w, "Sent on "+strings.Join(a.Channels, ", ")+"."); err != nil {
			return err
		}
	}
	var failed []error
	for _, f := range a.Failed {
		failed = append(failed, fmt.Errorf("not sent on %s: %s", f.Channel, terminal.OneLine(f.Problem, 300)))
	}
	return errors.Join(failed...)
}

// checkDigest prints where the audit log and the digest of a day differ.
func checkDigest(ctx context.Context, w io.Writer, day string) error {
	var m mistakes
	c := config{Home: m.home()}
	if err := m.err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, digestWithin)
	defer cancel()
	in, err := openDaemon(ctx, http.MethodGet, "/digest/judgements?"+url.Values{"date": {day}}.Encode())
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // It was only read.
	return digestcheck.Check(in, c.auditDir(), w)
}

// quietDays reads whether to send a digest that has nothing to report.
func (m *mistakes) quietDays(name, value string) bool {
	if value != "say" && value != "silent" {
		m.add(name, "%q is neither say nor silent", value)
	}
	return value == "silent"
}

// digest reads when digests are sent; off means never.
func (m *mistakes) digest(name, value string, zone *time.Location) *report.Hours {
	if value == "off" {
		return nil
	}
	minute, ok := minuteOfDay(value)
	if !ok {
		m.add(name, "%q is not a time such as 08:00, and not off", value)
	}
	return &report.Hours{Minute: minute, Zone: zone}
}

// drawDigest writes the picture of a digest to a file, or to the output for "-". It never leaves a
// partial file. It also prints what the picture shows in words.
func drawDigest(ctx context.Context, out, said io.Writer, day, file string) error {
	switch {
	case file == "":
		return &exitError{exitUsage, errors.New("--png: name a file, such as week.png, or - for the output")}
	case file == "-" && terminal.Is(out):
		return &exitError{exitUsage, errors.New("--png: a picture is not for the terminal: name a file, such as week.png, or redirect the output")}
	}
	var a owner.Picture
	if err := askDaemonFor(ctx, digestWithin, http.MethodGet, "/digest/picture?"+url.Values{"date": {day}}.Encode(), &a); err != nil {
		return err
	}
	if file == "-" {
		if _, err := out.Write(a.PNG); err != nil {
			return err
		}
	} else if err := writePicture(file, a.PNG); err != nil {
		return fmt.Errorf("--png %s: %w", file, err)
	}
	_, err := fmt.Fprintln(said, a.Alt)
	return err
}

// writePicture atomically writes a picture or a page. If something other than a file is there, such
// as a pipe, it writes into that.
func writePicture(path string, picture []byte) error {
	info, err := os.Stat(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return datafolder.Plain(err)
	case err == nil && info.IsDir():
		return errors.New("is a folder: name a file in it")
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return datafolder.Plain(err)
		}
		if terminal.Is(f) {
			return errors.Join(errors.New("is a terminal: name a file"), f.Close())
		}
		_, err = f.Write(picture)
		return errors.Join(err, f.Close())
	}
	return datafolder.Write(path, string(picture))
}
