package hosts_test

import (
	"testing"

	"github.com/metnos/vaglio/internal/hosts"
)

func TestHosts(t *testing.T) {
	for in, want := range map[string]string{"http://A.example.:80/x": "a.example", "b:1": "b", "'https://c/'": "c", "http://[::1]:80/": "::1", "http://%ZZ/x": "%zz", "http://%ZZ": "%zz", "http://a:$P/x": "a", "http://[::1]:$P/": "::1", "http://[::1]/%zz": "::1"} {
		if got := hosts.Of(in); got != want {
			t.Errorf("host of %s: %q", in, got)
		}
	}
	for in, want := range map[string]string{
		"127.0.0.1": "127.0.0.1", "127.1": "127.0.0.1", "0x7f.1": "127.0.0.1", "017700000001": "127.0.0.1", "2130706433": "127.0.0.1", "::ffff:10.0.0.1": "10.0.0.1",
		"0x7f.0.0.1": "127.0.0.1", "0X7F.1": "127.0.0.1", "127.1.513": "127.1.2.1", "0.1": "0.0.0.1", "00.1": "0.0.0.1", "010.1": "8.0.0.1", "1.16909060": "",
		"0b1.1": "", "0o17.1": "", "1_0.1": "", "08.1": "", "0x.1": "", "10.0.0.0x100": "", "0x1.2.3.4.5": "",
		"example.org": "", "1.2.3.4.5": "", "256.1": "", "": "",
	} {
		got, ok := hosts.Number(in)
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("number %q: %v, %v", in, got, ok)
		}
	}
}

func TestInternal(t *testing.T) {
	for host, want := range map[string]bool{
		"es": true, "es.internal": true, "ES.Internal.": true, "db.prod.lan": true, "nas.local": true, "wiki.acme.corp": true, "10.0.3.7": true, "192.168.1.9": true,
		"172.31.0.1": true, "[fd00::1]": true, "::1": true, "localhost": true, "pi.home.arpa": true, "my_db": true, "10.1": true,
		"": false, "internal.acme.com": false, "es.internal.evil.com": false, "172.32.0.1": false, "8.8.8.8": false, "134744072": false, "0x8080808": false, "2001:db8::1": false,
		"$HOST": false, "$(printf)": false, "xn--\u0430": false, "arpa.home.arpa.com": false, "local.host": false, "a.arpa": false, "‹masked›": false,
	} {
		if got := hosts.Internal(host); got != want {
			t.Errorf("%q is in a network of one's own: %t", host, got)
		}
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "127.0.0.1": true, "127.8.9.10": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "::": false, "10.0.0.1": false, "::ffff:10.0.0.1": false, "128.0.0.1": false,
		"127.1": false, "localhost.example.org": false, "127.0.0.1.example.org": false, "a.localhost": false, "127.0.0.1:80": false, "[::1]": false,
	} {
		if got := hosts.Loopback(host); got != want {
			t.Errorf("%q is this machine alone: %t", host, got)
		}
	}
}
