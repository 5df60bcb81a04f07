package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
)

// sample is a text in which gitleaks finds secrets.
type sample struct {
	// Rule is the rule that the text was made for.
	Rule string `json:"rule"`
	Text string `json:"text"`
	// Found are the secrets, each with the rule that found it.
	Found []finding `json:"found"`
}

type finding struct {
	Rule   string `json:"rule"`
	Secret string `json:"secret"`
}

// perRule is how many secrets are made for each rule, each in every context.
const perRule = 4

// contexts returns texts as they occur in agents' calls, with a secret in them.
func contexts(secret string) []string {
	quoted, err := json.Marshal(map[string]string{"content": secret})
	if err != nil {
		panic(err)
	}
	return []string{
		secret,
		"curl -sS -H 'X-Thing: " + secret + "' https://api.example.com/v1/things | jq .",
		"cd /srv/app && SETTING=" + secret + " ./run --fast\n",
		string(quoted),
	}
}

// writeGolden writes the samples, compressed: every scanner that looks at the repository would find
// secrets in plain text.
func writeGolden() error {
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(os.Stdout, gzip.BestCompression)
	if err != nil {
		return err
	}
	lines := json.NewEncoder(z)
	lines.SetEscapeHTML(false)
	silent := []string{}
	for _, r := range d.Config.GetOrderedRules() {
		if r.Regex == nil || r.Path != nil {
			continue
		}
		found := 0
		for _, s := range samplesOf(d, r) {
			found++
			if err := lines.Encode(s); err != nil {
				return err
			}
		}
		if found == 0 {
			silent = append(silent, r.RuleID)
		}
	}
	fmt.Fprintln(os.Stderr, "no sample of these was found by gitleaks itself:", silent)
	return z.Close()
}

// likely are expressions that generate more realistic texts than the rules' own expressions.
var likely = map[string]string{
	"private-key":      `-----BEGIN (RSA |EC |OPENSSH )?PRIVATE KEY-----\n(MII|b3Bl)[A-Za-z0-9+/]{60}\n([A-Za-z0-9+/]{64}\n){2,5}[A-Za-z0-9+/]{20}==\n-----END PRIVATE KEY-----`,
	"curl-auth-header": `curl (-s |-sS -X POST )?(-H|--header) '(Authorization: (Bearer |Token |Basic |)|X-Api-Key: |Api-Token: |X-Vault-Token: )[A-Za-z_.-]{16,40}' https://api.example.com/v1`,
	"generic-api-key": `(api_key|apiKey|API_KEY|access_token|accessToken|AUTH_TOKEN|db_password|DB_PASSWORD|client_secret|clientSecret|` +
		`SECRET_KEY|CREDENTIALS|service_creds|signing_key|token|password|passwd|X-Api-Key|ENCRYPTION_KEY|auth|bearer_token|refreshToken)` +
		`( = "|="|=|: |: "|":"|" : "|=')[A-Za-z0-9_-]{24,40}`,
}

// samplesOf generates texts for a rule, and keeps those in which gitleaks finds something. It
// generates the same texts at every run.
func samplesOf(d *detect.Detector, r config.Rule) []sample {
	source, times := r.Regex.String(), perRule
	if l, ok := likely[r.RuleID]; ok {
		source, times = l, 10*perRule
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil
	}
	seed := uint64(0)
	for _, c := range r.RuleID {
		seed = seed*131 + uint64(c)
	}
	rnd := rand.New(rand.NewPCG(seed, 1))
	var all []sample
	for range times {
		var b strings.Builder
		write(&b, tree, rnd)
		secret := strings.TrimSpace(b.String())
		if !slices.ContainsFunc(r.Keywords, func(k string) bool { return strings.Contains(strings.ToLower(secret), strings.ToLower(k)) }) {
			secret = r.Keywords[0] + " " + secret
		}
		for _, text := range contexts(secret) {
			if found := findings(d, text); len(found) > 0 {
				all = append(all, sample{r.RuleID, text, found})
			}
		}
	}
	return all
}

func findings(d *detect.Detector, text string) []finding {
	var out []finding
	for _, f := range d.DetectString(text) {
		out = append(out, finding{f.RuleID, f.Secret})
	}
	slices.SortFunc(out, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Secret, b.Secret))
	})
	return slices.Compact(out)
}

// write writes a random text that an expression matches.
func write(b *strings.Builder, re *syntax.Regexp, rnd *rand.Rand) {
	times := func(low, high int) {
		for range low + rnd.IntN(high-low+1) {
			write(b, re.Sub[0], rnd)
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(pick(re.Rune, rnd))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte("abcdefghijkmnpqrstuvwxyz23456789"[rnd.IntN(32)])
	case syntax.OpCapture:
		write(b, re.Sub[0], rnd)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			write(b, sub, rnd)
		}
	case syntax.OpAlternate:
		write(b, re.Sub[rnd.IntN(len(re.Sub))], rnd)
	case syntax.OpStar:
		times(0, 3)
	case syntax.OpPlus:
		times(1, 4)
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpRepeat:
		high := re.Max
		if high < 0 || high > re.Min+12 {
			high = re.Min + 12
		}
		times(re.Min, high)
	}
}

// pick returns a random character of a class, a printable ASCII character if there is one.
func pick(class []rune, rnd *rand.Rand) rune {
	var plain []rune
	for i := 0; i < len(class); i += 2 {
		for r := class[i]; r <= min(class[i+1], '~'); r++ {
			if r >= '!' || r == ' ' {
				plain = append(plain, r)
			}
		}
	}
	if len(plain) == 0 {
		return class[0]
	}
	return plain[rnd.IntN(len(plain))]
}

// judge writes what gitleaks finds in texts.
func judge() error {
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var text string
		if err := json.Unmarshal(in.Bytes(), &text); err != nil {
			return err
		}
		if found := findings(d, text); len(found) > 0 {
			if err := out.Encode(sample{"", text, found}); err != nil {
				return err
			}
		}
	}
	return in.Err()
}
