package mask_test

import (
	"strings"
	"testing"
)

// spellings returns usual ways to pass a secret to a program by position. Each holds the
// secret hunter2x, or one that begins with it.
func spellings() []string {
	return []string{
		"mysql -u root -phunter2x shop", "mysql -uroot -p'hunter2x' -e 'select 1'", "mysqldump -phunter2x --all-databases > x.sql",
		"mariadb -h db -phunter2x", "/usr/bin/mysqladmin -u root -phunter2x status", "sh -c \"mysql -phunter2x shop\"",
		"docker login -u me -p hunter2x registry.example.org", "podman login -p hunter2x -u me quay.io", "helm registry login -u me -p hunter2x host",
		"redis-cli -h r -a hunter2x ping", "redis-cli -u redis://:hunter2x@r:6379 ping", "zip -P hunter2x a.zip f", "unzip -P hunter2x a.zip", "7z a -phunter2x a.7z f",
		"rar a -hphunter2x a.rar f", "az login -u me -p hunter2x", "sqlcmd -S db -U sa -P hunter2x -Q 'select 1'", "mongosh -u me -p hunter2x db", "mongodump -u me -p hunter2x",
		"ldapsearch -x -D cn=admin -w hunter2x", "swaks --to a@b.c --auth-user me --auth-password hunter2x",
		"aws configure set aws_secret_access_key hunter2x", "aws configure set default.aws_session_token hunter2x --profile p",
		"npm config set //registry.npmjs.org/:_authToken hunter2x", "pulumi config set --secret dbPassword hunter2x",
		"gh secret set DEPLOY_KEY --body hunter2x", "gh secret set DEPLOY_KEY -b 'hunter2x'", "gh secret set DEPLOY_KEY --body=hunter2x",
		"fly secrets set SMTP=hunter2x", "kubectl create secret generic db --from-literal=user=hunter2x", "vault kv put secret/db value=hunter2x",
		"heroku config:set SECRET_KEY_BASE=hunter2x", "curl -u admin:hunter2x https://x", "curl -uadmin:hunter2x https://x", "curl --proxy-user me:hunter2x https://x",
		"smbclient //s/x -U me%hunter2x", "htpasswd -nb me hunter2x", "htpasswd -b .htpasswd me hunter2x",
		"echo 'root:hunter2x' | chpasswd", "printf 'root:hunter2x' | sudo chpasswd", "chpasswd <<< 'root:hunter2x'", "echo hunter2x | passwd --stdin root",
		"echo hunter2x | docker login -u me --password-stdin", "echo \"hunter2x\" | gh secret set X", "echo hunter2x | gh auth login --with-token",
		"psql -c \"CREATE USER u PASSWORD 'hunter2x'\"", "psql -c \"ALTER ROLE u WITH ENCRYPTED PASSWORD 'hunter2x'\"",
		"mysql -e \"CREATE USER u IDENTIFIED BY 'hunter2x'\"", "mysql -e 'alter user u identified with caching_sha2_password by \"hunter2x\"'",
		"az storage blob list --account-key hunter2x9==", "curl 'https://a.blob.core.windows.net/c?sv=1&sig=hunter2xAAAAAAAAAAAAAAAA%3D'",
		"curl https://discord.com/api/webhooks/123456789012345678/hunter2xAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA -d x",
		`{"name":"DB_PASSWORD","value":"hunter2x"}`, "env:\n- name: DB_PASSWORD\n  value: hunter2x\n", "sshpass -phunter2x ssh host", "wget --password hunter2x ftp://x",
		"mysql -p$'hunter2x' shop", "docker login -u me -p \"'hunter2x'\" host",
	}
}

// TestSecretsByPosition counts the usual spellings in which the secret stays visible.
func TestSecretsByPosition(t *testing.T) {
	t.Parallel()
	shown := 0
	for _, text := range spellings() {
		if got := masker.Mask(text); strings.Contains(got, "hunter2x") {
			shown++
			t.Errorf("shown: %s", got)
		}
	}
	t.Logf("%d of %d spellings show their secret", shown, len(spellings()))
}

// TestPositionsThatHoldNone checks that what stands in the same place without being a
// secret is left.
func TestPositionsThatHoldNone(t *testing.T) {
	t.Parallel()
	for _, text := range positions() {
		got := masker.Mask(text)
		if want := !strings.HasSuffix(text, "-phunter2x"); (got == text) != want {
			t.Errorf("%s became %s", text, got)
		}
	}
}

func positions() []string {
	return []string{
		"mkdir -p hunter2x", "ssh -p 2222 host", "docker run -p 8080:80 image", "mysql -p shop", "psql -p 5432 shop", "cp -a hunter2x b", "redis-cli -p 6379 ping",
		"aws configure set region eu-south-1", "git config user.name hunter2x", "npm config set prefix hunter2x", "echo hunter2x | tee file", "echo hunter2x | grep x",
		"curl -u admin https://x", "zip -r hunter2x.zip f", "7z x hunter2x.7z", "gh pr create --body hunter2x", "gh issue comment 3 -b hunter2x",
		"kubectl create configmap c --from-literal=user=hunter2x", "vault kv get secret/db", "python -m pytest -p no:cacheprovider", "mysqldump --port=3306 shop",
		"identified by the reviewer 'Bob'", "sig=1&x=2", `{"name":"REGION","value":"hunter2x"}`, "docker login -u me registry.example.org", "chpasswd < file",
		"smbclient //s/x -U me", "mysqlsh localhost:33060", "mysqlsh mysqlx://localhost:33060/shop", "mysqlsh me@db.example.org:33060", "tar -p -xf hunter2x.tar", "mysql -phunter2x", // the last is the control
	}
}
