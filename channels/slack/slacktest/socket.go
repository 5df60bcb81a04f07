package slacktest

import (
	"bytes"
	"net/http"
	"slices"
	"time"

	"github.com/gorilla/websocket"

	"github.com/metnos/vaglio/internal/strictjson"
)

const (
	socketPath = "/link/"
	// pingEvery is how often a socket is pinged.
	pingEvery = 10 * time.Second
	// MaxSockets is the most connections of an app.
	MaxSockets = 10
	// MaxAck is the largest acknowledgement, in bytes; a larger one is dropped silently.
	MaxAck = 20 << 10
)

// socket is one connection of the app. One goroutine writes to it.
type socket struct {
	conn *websocket.Conn
	out  chan []byte
	dead chan struct{}
}

// maxQueued is how many messages wait for a socket's writer.
const maxQueued = 1024

// send queues a message; a dead socket gets nothing.
func (k *socket) send(v any) {
	if raw, err := strictjson.Marshal(v); err == nil {
		k.sendRaw(raw)
	}
}

func (k *socket) sendRaw(raw []byte) {
	select {
	case k.out <- raw:
	case <-k.dead:
	}
}

func (s *Server) open(args map[string]string) answer {
	if len(s.sockets)+len(s.tickets) >= MaxSockets {
		return answer{err: "too_many_websockets"}
	}
	ticket := s.id("ticket")
	s.tickets[ticket] = true
	return answer{fields: map[string]any{"url": "ws://" + args["_host"] + socketPath + "?ticket=" + ticket}}
}

// Sockets returns how many connections the app has.
func (s *Server) Sockets() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sockets)
}

func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	ticket := r.URL.Query().Get("ticket")
	s.mu.Lock()
	known := s.tickets[ticket]
	delete(s.tickets, ticket)
	s.mu.Unlock()
	if !known {
		http.Error(w, "the ticket is not good", http.StatusUnauthorized)
		return
	}
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	k := &socket{conn: conn, out: make(chan []byte, maxQueued), dead: make(chan struct{})}
	s.mu.Lock()
	s.sockets = append(s.sockets, k)
	n := len(s.sockets)
	s.mu.Unlock()
	s.working.Go(func() { s.write(k) })
	s.working.Go(func() {
		defer s.gone(k)
		k.send(map[string]any{
			"type": "hello", "num_connections": n, "connection_info": map[string]any{"app_id": AppID},
			"debug_info": map[string]any{"host": "applink-1", "approximate_connection_time": 18060},
		})
		for {
			_, raw, err := conn.ReadMessage()
			if err != nil {
				return
			}
			s.acked(raw)
		}
	})
}

func (s *Server) gone(k *socket) {
	_ = k.conn.Close() // it is already dead, or is now
	close(k.dead)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sockets = slices.DeleteFunc(s.sockets, func(o *socket) bool { return o == k })
}

// write sends what is queued, and keeps the socket alive with pings.
func (s *Server) write(k *socket) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	ping := func() {
		s.mu.Lock()
		mute := s.mute
		s.mu.Unlock()
		if !mute {
			_ = k.conn.WriteControl(websocket.PingMessage, []byte("ping"), time.Now().Add(time.Second)) // the reader notices a dead socket
		}
	}
	ping()
	for {
		select {
		case <-k.dead:
			return
		case raw := <-k.out:
			_ = k.conn.WriteMessage(websocket.TextMessage, raw) // as above
		case <-tick.C:
			ping()
		}
	}
}

// acked takes an acknowledgement.
func (s *Server) acked(raw []byte) {
	var ack struct {
		EnvelopeID string           `json:"envelope_id"`
		Payload    strictjson.Value `json:"payload"`
	}
	if len(raw) >= MaxAck || strictjson.UnmarshalLoose(raw, &ack) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle(s.delivered[ack.EnvelopeID], ack.Payload)
}

// Duplicate makes the next delivery come twice, on two connections if there are two.
func (s *Server) Duplicate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.twice = true
}

// Mute makes every socket look alive on our side and say nothing any more, not even a ping,
// until it is undone.
func (s *Server) Mute(mute bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mute = mute
}

// Disconnect asks the app to leave one connection, as the platform does every few hours;
// the reason is "warning" or "refresh_requested".
func (s *Server) Disconnect(reason string) {
	s.mu.Lock()
	all := slices.Clone(s.sockets)
	s.mu.Unlock()
	if len(all) > 0 {
		all[0].send(map[string]any{"type": "disconnect", "reason": reason, "debug_info": map[string]any{"host": "applink-1"}})
	}
}

// Drop cuts every socket without warning.
func (s *Server) Drop() {
	s.mu.Lock()
	all := slices.Clone(s.sockets)
	s.mu.Unlock()
	for _, k := range all {
		_ = k.conn.NetConn().Close() // its reader ends
	}
}

// Garble sends every socket an invalid message.
func (s *Server) Garble(raw string) {
	s.mu.Lock()
	all := slices.Clone(s.sockets)
	s.mu.Unlock()
	for _, k := range all {
		k.sendRaw(bytes.ToValidUTF8([]byte(raw), nil))
	}
}
