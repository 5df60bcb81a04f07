package mask

import "strings"

// tokenAt returns the length of the secret with which s starts, or 0. It recognizes the
// formats that issuers give their tokens so that they can be found. s starts at a word.
func tokenAt(s string) int {
	if len(s) < 16 {
		return 0
	}
	return max(minted(s), issuedAt(s))
}

// issuedAt recognizes the formats of known issuers.
func issuedAt(s string) int {
	switch s[0] {
	case 'A', 'R':
		return max(long(s, "ATATT3", 80), signKey(s), keyID(s, "AKIA"), keyID(s, "ASIA"), keyID(s, "ABIA"), keyID(s, "ACCA"),
			long(s, "AIza", 35), long(s, "AGE-SECRET-KEY-1", 40))
	case 'G', 'S':
		return max(long(s, "GOCSPX-", 20), dotted(s, "SG.", 40))
	case 'd', 'n', 'p', 'r':
		return max(discord(s), long(s, "dop_v1_", 60), long(s, "dckr_pat_", 20), long(s, "dapi", 32), long(s, "npm_", 36),
			long(s, "ntn_", 40), long(s, "pypi-AgE", 50), long(s, "rk_live_", 16), long(s, "rk_test_", 16), long(s, "rubygems_", 40))
	case 'g':
		return max(gitHub(s), gitLab(s))
	case 'h':
		return max(long(s, "hf_", 30), long(s, "hvs.", 24), pathAfter(s, slackHook))
	case 'l', 'w':
		return max(long(s, "lin_api_", 30), long(s, "lin_oauth_", 60), long(s, "whsec_", 24))
	case 's', 'x', 'y':
		return max(secretKey(s), slack(s), dotted(s, "ya29.", 30))
	case 'e':
		return jwt(s)
	case 'b', 'B':
		return bearer(s)
	default:
		return 0
	}
}

// leastMinted is the length of the shortest token that is known by its shape, without its prefix,
// leastNamed of one whose prefix says that it is a secret, and leastDrawn how many letters and digits it
// has in a row. Ids that a person must read are shorter.
const leastMinted, leastNamed, leastDrawn = 30, 20, 20

// minted recognizes a token by its shape, whoever issued it: a short prefix, maybe more of them,
// and random letters and digits. A word in camel case changes less often between capitals,
// small letters and digits, and what a program counts or digests has no capitals.
func minted(s string) int {
	const most, prefix = 1024, 12 // bytes: a longer word is judged by its beginning
	word := s[:span(s[:min(len(s), most)], isURLSafe)]
	joint := strings.IndexAny(word, "_-")
	if len(word) < leastNamed || joint < 2 || joint > prefix || digest(word[:joint]) {
		return 0
	}
	body := pastPrefixes(word[joint+1:], prefix)
	least := leastMinted
	if secrecyOf(word[:len(word)-len(body)-1]) != notSecret {
		least = leastNamed
	}
	if len(body) < least || !random(body) {
		return 0
	}
	n := span(s, isURLSafe)
	return n + span(s[n:], isPadding)
}

// pastPrefixes returns what follows the words in small letters at the start of a token's body.
func pastPrefixes(body string, most int) string {
	for {
		n := span(body, isLower)
		if n == 0 || n > most || n == len(body) || body[n] != '_' && body[n] != '-' {
			return body
		}
		body = body[n+1:]
	}
}

// digest reports whether a prefix names a checksum, as in sha512-….
func digest(prefix string) bool {
	name := strings.TrimRight(strings.ToLower(prefix), "0123456789")
	return name != prefix && (name == "sha" || name == "md")
}

// tokenShown returns the length of the beginning of a token that stays visible because it
// says where the token belongs.
func tokenShown(s string) int {
	if strings.HasPrefix(s, slackHook) {
		return len(slackHook)
	}
	if strings.HasPrefix(s, discordHook) {
		return len(discordHook)
	}
	if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
		return len(scheme)
	}
	return 0
}

// webhook returns the length of the path segment at sc.at, if it names a webhook and a
// secret follows it in the address, or else 0.
func (sc *scanner) webhook() int {
	const name, least = "webhook", 16
	s := sc.text[sc.at:]
	if !foldPrefix(s, name) || sc.at == 0 || sc.text[sc.at-1] != '/' {
		return 0
	}
	n := span(s, isWord) + len("/")
	before := sc.text[max(0, sc.at-mostBeside):sc.at]
	if n >= len(s) || s[n-1] != '/' || !strings.Contains(before[strings.LastIndexAny(before, " \t\n\"'")+1:], "://") {
		return 0
	}
	for part := range strings.SplitSeq(s[n:n+span(s[n:], inHook)], "/") {
		if len(part) >= least && looksSecret(part) {
			return n
		}
	}
	return 0
}

func inHook(c byte) bool { return isURLSafe(c) || c == '/' || c == '@' }

const (
	slackHook   = "hooks.slack.com/services/"
	discordHook = "discord.com/api/webhooks/"
	scheme      = "Bearer "
)

// bearer recognizes a header's value without the header's name.
func bearer(s string) int {
	if !strings.EqualFold(s[:len(scheme)], scheme) {
		return 0
	}
	n := span(s[len(scheme):], func(c byte) bool { return isDotted(c) || isBase64(c) || c == '~' })
	if token := s[len(scheme) : len(scheme)+n]; n < 16 || !strings.ContainsAny(token, "0123456789") {
		return 0
	}
	return len(scheme) + n
}

// long returns the length of the prefix and the token characters after it if there are at
// least least of these, or else 0.
func long(s, prefix string, least int) int { return after(s, prefix, least, isURLSafe) }

func dotted(s, prefix string, least int) int { return after(s, prefix, least, isDotted) }

func after(s, prefix string, least int, in func(byte) bool) int {
	rest, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return 0
	}
	if n := span(rest, in); n >= least {
		return len(prefix) + n
	}
	return 0
}

// signKey recognizes the secret keys of minisign and signify, whose public keys are
// shorter.
func signKey(s string) int { return after(s, "RW", 130, isBase64) }

// keyID recognizes key IDs: a prefix and 16 capitals and digits.
func keyID(s, prefix string) int {
	const n = 16
	end := len(prefix) + n
	if after(s, prefix, n, isKeyID) != end || len(s) > end && isWord(s[end]) {
		return 0
	}
	return end
}

func pathAfter(s, prefix string) int {
	return after(s, prefix, 20, func(c byte) bool { return isURLSafe(c) || c == '/' })
}

func discord(s string) int { return pathAfter(s, discordHook) }

func gitHub(s string) int {
	return max(long(s, "ghp_", 36), long(s, "gho_", 36), long(s, "ghu_", 36), long(s, "ghs_", 36), long(s, "ghr_", 36),
		long(s, "github_pat_", 22))
}

func gitLab(s string) int {
	return max(long(s, "glpat-", 20), dotted(s, "gldt-", 20), long(s, "glrt-", 20), long(s, "glptt-", 20),
		long(s, "glcbt-", 20), long(s, "glsoat-", 20), long(s, "glagent-", 20), long(s, "glft-", 20))
}

func slack(s string) int {
	switch {
	case strings.HasPrefix(s, "xapp-"):
		return long(s, "xapp-", 20)
	case strings.HasPrefix(s, "xox") && s[4] == '-' && strings.IndexByte("abcdeoprs", s[3]) >= 0:
		return long(s, s[:5], 10)
	default:
		return 0
	}
}

// secretKey recognizes the keys of the many issuers that begin with sk. A word in kebab
// case may begin that way too, but a key has digits and capitals.
func secretKey(s string) int {
	if !strings.HasPrefix(s, "sk") {
		return max(long(s, "shpat_", 30), long(s, "sbp_", 40))
	}
	known := max(long(s, "sk-ant-", 20), long(s, "sk-proj-", 20), long(s, "sk-svcacct-", 20), long(s, "sk-or-", 20),
		long(s, "sk_live_", 16), long(s, "sk_test_", 16))
	if known > 0 {
		return known
	}
	head := s[:min(len(s), 64)]
	if !strings.ContainsAny(head, "0123456789") || strings.ToLower(head) == head {
		return 0
	}
	return long(s, "sk-", 20)
}

// jwt recognizes signed tokens: three parts, the first two of which are JSON objects.
func jwt(s string) int {
	if !strings.HasPrefix(s, "eyJ") {
		return 0
	}
	const most = 1024 // bytes in a header: a bound on the work
	head := span(s[:min(len(s), most)], isURLSafe)
	rest, ok := strings.CutPrefix(s[head:], ".eyJ")
	if !ok || head < 10 {
		return 0
	}
	body := span(rest, isURLSafe)
	rest, ok = strings.CutPrefix(rest[body:], ".")
	if !ok {
		return 0
	}
	return head + len(".eyJ") + body + 1 + span(rest, isURLSafe)
}
