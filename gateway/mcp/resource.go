package mcp

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/gateway/jsonrpc"
	"github.com/metnos/vaglio/internal/strictjson"
)

// A server that wants a token tells where its metadata are (RFC 9728), and there which
// resource it is. A client goes on only if that is the address that it was given, which
// here is the proxy's. So what the server says of itself is said of the proxy, and nothing
// else is: a server that claims to be another resource is seen through, as without a proxy.

// metadataAt is where a challenge names the metadata.
var metadataAt = regexp.MustCompile(`(?i)(\bresource_metadata\s*=\s*")([^"\\]*)(")`)

// largestMetadata is what metadata may have to be read here, in bytes.
const largestMetadata = 1 << 20

// own gives the address at the proxy of what is at the address at the server, and
// reports whether it is at the server at all.
func (h *Handler) own(address, host string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil || u.User != nil || u.Scheme != h.upstream.Scheme || u.Host != h.upstream.Host {
		return "", false
	}
	// What follows the host stays as it is written: clients compare letter by letter.
	rest, _ := strings.CutPrefix(address, u.Scheme+"://"+u.Host)
	if host == "" || rest == address {
		return "", false
	}
	return "http://" + host + rest, true
}

// challenge has a challenge name the metadata where the client finds them as the proxy's.
func (h *Handler) challenge(resp *http.Response, host string) {
	all := resp.Header["Www-Authenticate"]
	for i, line := range all {
		all[i] = metadataAt.ReplaceAllStringFunc(line, func(found string) string {
			parts := metadataAt.FindStringSubmatch(found)
			if at, ok := h.own(parts[2], host); ok {
				return parts[1] + at + parts[3]
			}
			return found
		})
	}
}

// metadata has the server's metadata name the proxy, if resp holds them. What cannot be
// read, or has a signature that says another thing, passes as it is: the client refuses it.
func (h *Handler) metadata(resp *http.Response, host string) {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" || resp.StatusCode != http.StatusOK || resp.Request.Method != http.MethodGet {
		return
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, largestMetadata+1))
	rest := io.MultiReader(bytes.NewReader(body), resp.Body)
	if named, ok := h.named(body, host); ok && err == nil && len(body) <= largestMetadata {
		rest = bytes.NewReader(named)
		resp.ContentLength = int64(len(named))
		resp.Header.Set("Content-Length", strconv.Itoa(len(named)))
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{rest, resp.Body}
}

// named are metadata with the proxy in the place of the server.
func (h *Handler) named(data []byte, host string) ([]byte, bool) {
	const resource, servers = "resource", "authorization_servers"
	all, err := jsonrpc.Object(data, resource, servers)
	if err != nil || all[servers] == nil {
		return nil, false
	}
	var address string
	if strictjson.UnmarshalLoose(all[resource], &address) != nil {
		return nil, false
	}
	at, ok := h.own(address, host)
	if !ok {
		return nil, false
	}
	all[resource], err = strictjson.Marshal(at)
	out, wrong := strictjson.Marshal(all)
	return out, err == nil && wrong == nil
}
