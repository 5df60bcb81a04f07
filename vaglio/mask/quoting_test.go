package mask_test

import (
	"strings"
	"testing"
)

// quotedForms are ways to pass a secret, which stands for the percent sign as one word of a shell or the
// end of one.
func quotedForms() []string {
	return []string{
		"mysql --password=% shop", "mysql --password % shop", "mysql -u root -p% -e 'select 1'", "psql --password=% shop", "PGPASSWORD=% psql shop", "export DB_PASSWORD=%",
		"redis-cli -a % ping", "redis-cli --pass % ping", "docker login -u me -p % host", "sshpass -p % ssh h", "sshpass -p% ssh h", "sqlcmd -S h -P %", "sqlcmd -P% -S h",
		"7z a -p% a.7z f", "zip -P % a.zip f", "htpasswd -nb me %", "mongosh -u me -p % db", "ldapsearch -x -w %", "keytool -storepass % -list", "gh secret set K --body %",
		"gh secret set K --body=%", "aws configure set aws_secret_access_key %", "heroku config:set SECRET_KEY_BASE=%", "fly secrets set SMTP=%", "vault kv put secret/db value=%",
		"kubectl create secret generic db --from-literal=user=%", "docker run -e DB_PASSWORD=% img", "wget --password % ftp://x", "curl -u me:% https://x", "curl --user=me:% https://x",
		"cryptsetup luksOpen d <<< %", "echo % | passwd --stdin root", "mysql \\\n  --password=% \\\n  shop", "xfreerdp /u:me /p:% /v:h", "# don't ask\nmysql -p% shop",
	}
}

// TestQuotedSecrets checks that no part of a secret shows that has blanks, however it is quoted.
func TestQuotedSecrets(t *testing.T) {
	t.Parallel()
	for _, quoted := range []string{
		"'hunter2x zebra'", `"hunter2x zebra"`, `$'hunter2x zebra'`, `hunter2x\ zebra`, `'hunter2x'\''zebra'`, `hunter2x'zebra quagga'`, `"hunter2x'zebra quagga"`, "'hunter2x\nzebra'",
		"'hunter2x;zebra'", "'hunter2x&zebra'", `hunter2x\;zebra`, "'hunter2x(zebra)'",
	} {
		for _, form := range quotedForms() {
			hidden(t, strings.ReplaceAll(form, "%", quoted))
		}
	}
}

// hidden checks that no word of a secret shows.
func hidden(t *testing.T, text string) {
	t.Helper()
	got := masker.Mask(text)
	for _, word := range []string{"hunter", "zebra", "quagga"} {
		if strings.Contains(got, word) {
			t.Errorf("%q shows a secret: %q", text, got)
			return
		}
	}
	if again := masker.Mask(got); again != got {
		t.Errorf("%q is masked as %q, and twice as %q", text, got, again)
	}
}

// TestQuotedSecretsWithin checks words that are quoted with their option, and commands in strings.
func TestQuotedSecretsWithin(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`kubectl create secret generic db '--from-literal=user=hunter2x zebra'`, `docker run -e 'DB_PASSWORD=hunter2x zebra' img`, `xfreerdp '/p:hunter2x zebra' /v:h`,
		`mysql '--password=hunter2x zebra' shop`, `mysql "-phunter2x zebra" shop`, `openssl enc -pass 'pass:hunter2x zebra' -in f`, `smbclient //s/x -U 'me%hunter2x zebra'`,
		`curl -u 'me:hunter2x zebra' https://x`, `curl -u $'me:hunter2x zebra' https://x`, `vault kv put secret/db 'value=hunter2x zebra'`, `redis-cli ACL SETUSER ann '>hunter2x zebra'`,
		`ssh h "mysql -p'hunter2x zebra' shop"`, `bash -c 'mysql --password="hunter2x zebra" shop'`, `psql "host=h password='hunter2x zebra' user=u"`, `psql "host=h password=hunter2x\ zebra user=u"`,
		`{"command":"mysql --password=\"hunter2x zebra\" shop"}`, `{"command":"mysql -p\"hunter2x zebra\" shop"}`, `{"command":"ssh h \"mysql -p'hunter2x zebra'\""}`,
		`mysql -e "CREATE USER u IDENTIFIED BY 'hunter2x zebra'"`, `psql -c "ALTER ROLE u PASSWORD 'hunter2x zebra'"`, "mysql -p$'hunter2x\\'zebra' shop",
		`printf 'a:hunter2x zebra\nb:quagga x' | chpasswd`, "printf 'a:hunter2x zebra\nb:quagga x' | chpasswd", `chpasswd <<< 'root:hunter2x zebra'`,
		`psql 'postgres://u:hunter2x%20zebra@h/db'`, `curl 'https://x/?password=hunter2x%20zebra'`, `redis-cli -u 'redis://:hunter2x%2Fzebra@r:6379'`,
	} {
		hidden(t, text)
	}
}

// TestQuotesThatHideNothing checks that nothing that runs is hidden behind a quotation mark that closes a
// string, or that could, and that ordinary texts keep their words.
func TestQuotesThatHideNothing(t *testing.T) {
	t.Parallel()
	for text, shown := range map[string]string{
		`echo 'x password='; make zebra; echo 'y'`:                  "; make zebra; echo ",
		`echo 'mysql -p'; make zebra; echo 'y'`:                     "; make zebra; echo ",
		"cat <<E\n'\nE\necho 'mysql -p'; make zebra -f x; echo 'y'": "; make zebra -f x; echo ",
		`echo "$(echo "mysql -p'")'"; make -f zebra; echo 'y'`:      "; make -f zebra; echo ",
		`bash -c "echo 'a --password='; make zebra; echo 'b'"`:      "; make zebra; echo ",
		`PASSWORD='make zebra; x'; eval "$PASSWORD"`:                " zebra; x",
		"mysql -p'a & make zebra & '":                               " & make zebra & ",
		`mysql -p"a$(make zebra)"`:                                  "$(make zebra)",
		"mysql -p\"a`make zebra`\"":                                 "`make zebra`",
		`X='a password=' make zebra 'b'`:                            " make zebra ",
		`curl -d 'password=a&user=zebra b' https://x`:               "&user=zebra b",
		`psql "password=hunter2x host=zebra"`:                       " host=zebra",
		`git commit -m "don't log the password" && make 'zebra'`:    "make 'zebra'",
		`grep -n 'password' zebra.go && sed -n '1,3p' zebra.go`:     "sed -n '1,3p' zebra.go",
		`docker run -e MODE='two words' -e NAME="zebra x" img`:      `MODE='two words' -e NAME="zebra x"`,
		`mysql -e 'select zebra from t' -u root shop`:               "'select zebra from t' -u root shop",
		`printf '%s\n' 'some zebra words' | tee f`:                  "'some zebra words' | tee f",
	} {
		if got := masker.Mask(text); !strings.Contains(got, shown) {
			t.Errorf("%q hides what runs: %q", text, got)
		}
	}
}

// TestWhereQuotedSecretsEnd checks that exactly what stands in brackets is masked.
func TestWhereQuotedSecretsEnd(t *testing.T) {
	t.Parallel()
	for _, marked := range []string{
		`mysql -p'⟦hunter2x zebra⟧' shop`, `mysql "-p⟦hunter2x zebra⟧" shop`, `mysql -p⟦hunter2x\ zebra⟧ shop`, `mysql -p⟦hunter2x'zebra quagga'⟧ shop`, `mysql -p'⟦hunter2x'\''zebra⟧' shop`,
		`mysql -p$'⟦hunter2x\' zebra⟧' shop`, `mysql -p$'⟦a\'⟧' 'two words'`, `mysql -p'⟦a\⟧' 'two words'`, `curl -u 'me:⟦hunter2x zebra⟧' x`, `curl -u me:'⟦hunter2x zebra⟧' x`, `curl -u 'm e':'⟦hunter2x zebra⟧' x`,
		`PGPASSWORD=⟦hunter2x\ zebra\ x⟧ psql`, `PGPASSWORD=⟦hunter2x\;zebra⟧ psql`, `PGPASSWORD=⟦hunter2x⟧\n psql`, `PGPASSWORD=⟦hunter2x⟧\  psql`, `PGPASSWORD=⟦hunter2x'zebra x'⟧ psql`, `PGPASSWORD=⟦hunter2x⟧"$X" psql`,
		`PASSWORD='⟦hunter2x'\''zebra⟧' x`, `PASSWORD='⟦hunter2x⟧'\'' zebra`, `PASSWORD='⟦hunter2x'\''a b⟧' 'c d'`, `PASSWORD="⟦hunter2x⟧ $(x)"`, `PASSWORD="⟦hunter2x;zebra⟧"`, `PASSWORD="⟦hunter2x⟧; zebra"`,
		`{"c":"mysql -p\"⟦hunter2x zebra⟧\" shop"}`, `{"c":"PASSWORD=\"⟦hunter2x zebra⟧\" shop"}`, `{"c":"ssh h \"mysql -p\\\"⟦hunter2x zebra⟧\\\" shop\""}`, `x "a \"b" 'PASSWORD=⟦hunter2x⟧; y'`,
		`expect -c 'expect "password:"; send "⟦hunter2x zebra⟧\r"'`, `printf 'a:⟦hunter2x zebra⟧\nb:⟦quagga x⟧' | chpasswd`, "printf 'a:⟦hunter2x zebra⟧\nb:⟦quagga x⟧\n' | chpasswd",
		"x # don't\nmysql -p'⟦hunter2x zebra⟧'", "# don't\nmysql -p'⟦hunter2x zebra⟧'", "x a#'b c' 'PASSWORD=⟦hunter2x zebra⟧'", "x 'a # b' -p 'PASSWORD=⟦hunter2x zebra⟧'",
		`docker run -e 'PASSWORD=⟦hunter2x zebra⟧' i`, `docker run -e 'X Y PASSWORD=⟦hunter2x⟧ zebra' i`, `docker run -e 'PASSWORD=⟦hunter2x⟧ zebra, x' i`, `docker run -e 'PASSWORD=⟦hunter2x⟧`, `mysql -p"⟦a⟧$(make zebra) b" shop`,
		`mysql -p"⟦a b⟧$(make zebra)" shop`, `mysql -p'⟦a&b⟧' shop`, `mysql -p'⟦a⟧ & b' shop`, "mysql -p'⟦a⟧\n| b' shop", `mysql -p'⟦a ; b⟧' shop`, `echo $(x); mysql -p'⟦a b⟧' shop`, `echo $(x); mysql -p'⟦a⟧ ; b' shop`,
		`mysql -p'⟦a ; b⟧' $(x)`, `mysql -p '' shop`, `redis-cli -a '' ping`, `redis-cli -a "⟦a b⟧" ping`, `xfreerdp '/p:⟦a b⟧' /v:h`, `redis-cli '-a' '⟦a b⟧' ping`, `gh secret set K '--body=⟦a b⟧'`, `gh secret set K '--body' '⟦a b⟧'`,
		`mysql -p'⟦hunter2x zebra⟧' #`, "mysql -p⟦a\\ \\;b⟧<<E\nselect 1\nE",
		`htpasswd -nb me '⟦a b⟧'`, `htpasswd -nb 'm e' '⟦a b⟧'`, `rabbitmqctl add_user 'm e' '⟦a b⟧'`, `kubectl create secret generic x '--from-literal=u=⟦a b⟧'`, `smbclient //s/x -W 'a b' -U 'me%⟦a b⟧'`,
	} {
		exactly(t, marked)
	}
}
