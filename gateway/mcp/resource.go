package mcp

import (
	"bytes"
	"errors"
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

// A server that wants a token says where its metadata is (RFC 9728), and the metadata names the
// resource. A client accepts that only if it is the address that the client was given, which
// here is the proxy's. So we replace the server's own address by the proxy's, and nothing else:
// a server that claims to be another resource is detected as it would be without a proxy.

// metadataAt matches the address of the metadata in a challenge.
var metadataAt = regexp.MustCompile(`(?i)(\bresource_metadata\s*=\s*")([^"\\]*)(")`)

// largestMetadata is the maximum size of metadata that we adapt, in bytes.
const largestMetadata = 1 << 20

// own maps an address on the server to the proxy's. It reports false if the address is not on
// the server.
func (h *Handler) own(address, host string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil || u.User != nil || u.Scheme != h.upstream.Scheme || u.Host != h.upstream.Host {
		return "", false
	}
	// What follows the host stays as written, because clients compare it letter by letter.
	rest, _ := strings.CutPrefix(address, u.Scheme+"://"+u.Host)
	if host == "" || rest == address {
		return "", false
	}
	return "http://" + host + rest, true
}

// redirect makes a redirect to an address on the server lead through the proxy. A message must not
// follow one to elsewhere, where nobody would read it.
func (h *Handler) redirect(resp *http.Response, host string) error {
	const header = "Location"
	to := resp.Header.Get(header)
	if to == "" {
		return nil
	}
	if u, err := url.Parse(to); err == nil && u.Scheme == "" && u.Host == "" {
		return nil
	}
	if at, ok := h.own(to, host); ok {
		resp.Header.Set(header, at)
		return nil
	}
	if resp.Request.Method != http.MethodPost {
		return nil
	}
	return errors.New("it redirects to another address: give that one as --upstream if you trust it")
}

// challenge makes a challenge name the metadata at the proxy's address.
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

// metadata makes the server's metadata, if resp contains it, name the proxy. Metadata that
// cannot be parsed, or whose signature says otherwise, passes unchanged: the client rejects it.
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

// named returns the metadata with the proxy in place of the server.
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
