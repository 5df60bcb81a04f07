package mask_test

import (
	"os"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/strictjson"
)

// furtherSpellings returns spellings written before the table was improved. Only the first
// half, seen, was used for that.
func furtherSpellings() (seen, sealed []string) {
	seen = []string{
		"chpasswd <<EOF\nroot:hunter2x\nann:hunter2x9\nEOF", "sudo chpasswd -e <<'END'\nroot:hunter2x\nEND\n", "echo -e 'root:hunter2x\\nann:hunter2x9' | chpasswd",
		"passwd --stdin root <<< hunter2x", "docker login -u me --password-stdin <<EOF\nhunter2x\nEOF", "printf '%s' hunter2x | docker login -u me --password-stdin",
		"openssl enc -aes-256-cbc -k hunter2x -in a", "openssl rsa -in k.pem -passin pass:hunter2x", "gpg --batch --passphrase hunter2x -c a",
		"mosquitto_pub -h b -u me -P hunter2x -t t -m x", "ipmitool -H bmc -U root -P hunter2x power off", "xfreerdp /v:host /u:me /p:hunter2x",
		"snmpget -v3 -A hunter2x -X hunter2x9 host oid", "net use Z: \\\\srv\\share /user:me hunter2x", "mount -t cifs //s/x /mnt -o username=me,password=hunter2x",
		"nmcli dev wifi connect home password hunter2x", "wpa_passphrase home hunter2x", "ansible all -e ansible_become_pass=hunter2x -m ping", "svn checkout --password hunter2x https://x",
		"rabbitmqctl add_user me hunter2x",
	}
	sealed = []string{
		"rabbitmqctl change_password me hunter2x", "echo 'ann:hunter2x' | sudo -S chpasswd", "cat <<EOF | chpasswd\nroot:hunter2x\nEOF", "newusers <<EOF\nann:hunter2x:1000:1000::/home/ann:/bin/sh\nEOF",
		"gh auth login --with-token <<< hunter2x", "mosquitto_sub -P hunter2x -u me -t '#'", "openssl pkcs12 -export -passout pass:hunter2x -in c", "gpg2 --passphrase=hunter2x -d a.gpg",
		"ipmitool -I lanplus -H bmc -P hunter2x chassis status", "snmpwalk -v3 -u me -A hunter2x host", "rclone config create r sftp pass hunter2x", "lftp -u me,hunter2x host",
		"ncftpput -u me -p hunter2x host . f", "winexe -U me%hunter2x //h cmd", "evil-winrm -i h -u me -p hunter2x", "keytool -storepass hunter2x -list",
		"jarsigner -storepass hunter2x a.jar k", "influx -username me -password hunter2x", "consul kv put app/password hunter2x", "etcdctl --user root:hunter2x get x",
	}
	return seen, sealed
}

// TestFurtherSpellings counts each half. Before the table was improved, 13 of the seen and
// 15 of the sealed spellings showed their secret. The counts must not rise again.
func TestFurtherSpellings(t *testing.T) {
	t.Parallel()
	seen, sealed := furtherSpellings()
	count(t, "seen", seen, 1, showsSecret)
	count(t, "sealed", sealed, 1, showsSecret)
}

// TestSpellingsByProgram counts spellings for 80 programs and ways to pass a secret, and
// everyday texts that look like them. They were written before the names, the table and the
// rules by form were improved with the seen half, while the sealed half was not looked at.
// At first 40 seen and 35 sealed spellings showed their secret. The counts must not rise
// again.
func TestSpellingsByProgram(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/spellings.json")
	if err != nil {
		t.Fatal(err)
	}
	type halves struct {
		Seen   []string `json:"seen"`
		Sealed []string `json:"sealed"`
	}
	var rows struct {
		Secret   halves `json:"secret"`
		Everyday halves `json:"everyday"`
	}
	if err := strictjson.UnmarshalLoose(raw, &rows); err != nil || len(rows.Secret.Sealed) == 0 || len(rows.Everyday.Sealed) == 0 {
		t.Fatal(err, "or no rows")
	}
	count(t, "seen", rows.Secret.Seen, 0, showsSecret)
	// The argument of gem push --key is the name of a key, not a secret.
	count(t, "sealed", rows.Secret.Sealed, 1, showsSecret)
	// What sudo -S reads is a password, even if it is only "ok".
	count(t, "everyday, seen", rows.Everyday.Seen, 1, isTouched)
	count(t, "everyday, sealed", rows.Everyday.Sealed, 0, isTouched)
}

// TestCarriedSpellings counts secrets in what carries them to a program: other shells and
// machines, containers, charts, secret stores, and files that a here-document writes. The
// seen half was used for improvements; the sealed half was not read.
func TestCarriedSpellings(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/carried.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows struct {
		Seen   []string `json:"seen"`
		Sealed []string `json:"sealed"`
	}
	if err := strictjson.Unmarshal(raw, &rows); err != nil || len(rows.Seen) == 0 || len(rows.Sealed) == 0 {
		t.Fatal(err, "or no rows")
	}
	count(t, "seen", rows.Seen, 0, showsSecret)
	count(t, "sealed", rows.Sealed, 0, showsSecret)
}

// TestWays counts secrets, in brackets, in the ways in which agents pass them to programs
// and write them into files, together with everyday texts. Each of five groups was written
// before the rules that mask it, measured once, and then opened; a sixth was not opened,
// nor was half of a seventh. When measured, of 377, 102, 148, 100, 50, 80, 154 and 60
// secrets, 78, 12, 15, 3, 5, 3, 17 and 1 showed; of 223, 99, 121, 40, 154 and 159 everyday
// texts, 8, 8, 3, none, none and 4 were touched.
func TestWays(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/ways.json")
	if err != nil {
		t.Fatal(err)
	}
	type group struct {
		Secret   []string `json:"secret"`
		Everyday []string `json:"everyday"`
	}
	var rows struct {
		Opened group `json:"opened"`
		Sealed group `json:"sealed"`
	}
	if err := strictjson.Unmarshal(raw, &rows); err != nil || len(rows.Sealed.Secret) == 0 || len(rows.Sealed.Everyday) == 0 {
		t.Fatal(err, "or no rows")
	}
	countMarked(t, "opened", rows.Opened.Secret, 9)
	countMarked(t, "sealed", rows.Sealed.Secret, 3)
	count(t, "everyday, opened", rows.Opened.Everyday, 0, isTouched)
	count(t, "everyday, sealed", rows.Sealed.Everyday, 1, isTouched)
}

// countMarked is count for texts whose secrets stand in brackets, which it removes.
func countMarked(t *testing.T, name string, texts []string, most int) {
	t.Helper()
	secrets := map[string]string{}
	var plain []string
	for _, text := range texts {
		_, secret, _ := strings.Cut(text, "⟦")
		secret, _, _ = strings.Cut(secret, "⟧")
		text = strings.NewReplacer("⟦", "", "⟧", "").Replace(text)
		secrets[text] = secret
		plain = append(plain, text)
	}
	count(t, name, plain, most, func(text, masked string) bool {
		return secrets[text] == "" || strings.Contains(masked, secrets[text])
	})
}

func showsSecret(_, masked string) bool  { return strings.Contains(masked, "hunter2x") }
func isTouched(text, masked string) bool { return masked != text }

// count checks that no more than most texts are wrong.
func count(t *testing.T, name string, texts []string, most int, wrong func(text, masked string) bool) {
	t.Helper()
	var all []string
	for _, text := range texts {
		if got := masker.Mask(text); wrong(text, got) {
			all = append(all, got)
		}
	}
	t.Logf("%s: %d of %d", name, len(all), len(texts))
	if len(all) > most {
		t.Errorf("%s: %d, at most %d were:\n%s", name, len(all), most, strings.Join(all, "\n"))
	}
}

// TestHereDocumentsThatHoldNone checks that what other programs read, and what follows the
// document's end, is left.
func TestHereDocumentsThatHoldNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"cat <<EOF\nroot:hunter2x\nEOF", "chpasswd <<EOF", "chpasswd <<EOF\n\nEOF\nls a:hunter2x", "chpasswd <<", "chpasswd << \"\"\nroot:hunter2x",
		"openssl x509 -in c.pem -noout", "mosquitto_pub -p 1883 -t t", "nmcli dev wifi connect home", "snmpwalk -v2c -c public host",
	} {
		if got := masker.Mask(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
