package effects

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// maxAddress bounds the path and the query of an address that is fetched, in
// bytes: what browsers and servers commonly stop at.
const maxAddress = 8 << 10

// carriesData finds what an address that is only fetched carries out of the
// machine: data packed into its path or its query, or a place whose only use
// is to collect what it is sent. It returns "" when it finds nothing.
func carriesData(address string) string {
	u, err := url.Parse(strings.Trim(address, "'\""))
	if err != nil || u.Host == "" || localURL(address) {
		return ""
	}
	if len(u.RawQuery)+len(u.Path) > maxAddress {
		return "more text than an address needs"
	}
	host := strings.ToLower(u.Hostname())
	for _, h := range []string{"webhook.site", "requestbin", "pipedream.net", "burpcollaborator", "oastify", "interact.sh", "interactsh", "dnslog", "beeceptor", "hookbin", "requestcatcher", "canarytokens", "ngrok", "oast.", "postb.in", "requestinspector", "ptsv", "webhookrelay", "mockbin"} {
		if strings.Contains(host, h) {
			return "the collector " + host
		}
	}
	for part := range strings.SplitSeq(u.Path, "/") {
		if packed(part) {
			return "data in the path"
		}
	}
	for name, values := range u.Query() {
		for _, v := range values {
			switch strings.ToLower(name) {
			case "exfil", "leak", "dump", "secrets", "loot", "stolen", "env", "passwd", "password", "creds", "credentials":
				if v != "" {
					return "the parameter " + name
				}
			case "data", "payload", "d", "blob", "contents":
				if len(v) >= 16 && !strings.ContainsAny(v, " ,") {
					return "the parameter " + name
				}
			}
			if packed(v) || strings.Contains(v, "-----BEGIN") || strings.Contains(v, "root:x:0") || strings.HasPrefix(v, "AKIA") || strings.HasPrefix(v, "ghp_") || strings.HasPrefix(v, "sk_live_") {
				return "the parameter " + name
			}
		}
	}
	return ""
}

// packed reports whether a text is readable text in base64.
func packed(s string) bool {
	if len(s) < 16 || strings.HasPrefix(s, "eyJ") { // JSON: cursors and signed tokens
		return false
	}
	s = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/", " ", "+").Replace(s), "=")
	data, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return false
	}
	marks := false
	for _, b := range data {
		if b >= 0x7f || b < ' ' && b != '\n' && b != '\r' && b != '\t' {
			return false
		}
		marks = marks || strings.IndexByte("=:{ \n@", b) >= 0
	}
	return marks
}
