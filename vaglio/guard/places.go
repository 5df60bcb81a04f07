package guard

import (
	"strings"
)

// place is one row of the table of places that hold secrets, decide about
// rights or steer the kernel.
type place struct {
	// what names the place for people, in the plural or as a mass.
	what string
	// reading, writing, removing are the ids of the rules that forbid it; ""
	// leaves it to the effects judge.
	reading, writing, removing string
	// where are the patterns: ~/ is any home, **/ any folder, a trailing /** the
	// folder and all below, * and ? stay within one step.
	where []string
	// except are patterns of what is free below.
	except []string
}

const (
	keyRule    = "path.keys"
	authRead   = "path.auth_read"
	authWrite  = "path.auth_write"
	credRule   = "path.secrets"
	memoryRule = "path.memory"
	bootRule   = "path.boot_write"
	kernelRule = "path.kernel"
	adminRule  = "path.admin_home"
	vitalRule  = "tree.vital"
	ownID      = "own.path"
)

// places is the table. A row is here when reading or writing the place has no
// honest everyday use for an agent; programs that use a credential by
// themselves are not touched.
func places() []place {
	return append(append(systemPlaces(), keyPlaces()...), credentialPlaces()...)
}

func systemPlaces() []place {
	return []place{
		{
			what: "accounts and password hashes", reading: authRead, writing: authWrite, removing: authWrite,
			where: []string{
				"/etc/passwd", "/etc/passwd-", "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d/**",
				"/etc/master.passwd", "/etc/spwd.db", "/etc/security/opasswd", "/var/backups/passwd.bak", "/var/backups/shadow.bak",
				"/var/backups/gshadow.bak", "/var/db/dslocal/nodes/**", "/private/etc/passwd", "/private/etc/master.passwd",
				"/private/etc/sudoers", "/private/etc/sudoers.d/**", "/c:/windows/system32/config/sam", "/c:/windows/system32/config/system",
			},
		},
		{
			what: "what decides who may log in, become root, or be run at a login or a time", writing: authWrite, removing: authWrite,
			where: []string{
				"/etc/group", "/etc/group-", "/etc/pam.d/**", "/etc/pam.conf", "/etc/security/**", "/etc/ssh/**", "/etc/doas.conf", "/etc/polkit-1/**",
				"/etc/ld.so.preload", "/etc/ld.so.conf", "/etc/crontab", "/etc/cron.d/**", "/etc/cron.hourly/**", "/etc/cron.daily/**",
				"/etc/cron.weekly/**", "/etc/cron.monthly/**", "/etc/cron.allow", "/etc/cron.deny", "/etc/at.allow", "/etc/at.deny",
				"/var/spool/cron/**", "/etc/nsswitch.conf", "/etc/login.defs", "/etc/securetty", "/etc/krb5.keytab",
			},
		},
		{
			what: "server keys", reading: keyRule, writing: authWrite, removing: authWrite,
			where: []string{
				"/etc/ssh/ssh_host_*_key", "/etc/ssl/private/**", "/etc/letsencrypt/live/*/privkey*.pem", "/etc/letsencrypt/archive/*/privkey*.pem",
				"/etc/letsencrypt/keys/**", "/etc/pki/tls/private/**", "/etc/krb5.keytab", "/etc/wireguard/*.conf", "/etc/ipsec.secrets", "/etc/ipsec.d/private/**",
				"/etc/ppp/pap-secrets", "/etc/ppp/chap-secrets", "/etc/NetworkManager/system-connections/**", "/etc/wpa_supplicant/wpa_supplicant*.conf",
				"/etc/kubernetes/pki/**", "/var/lib/kubelet/pki/**",
			},
			except: []string{"/etc/kubernetes/pki/**/*.crt", "/etc/kubernetes/pki/**/*.pub"},
		},
		{
			what: "other processes' memory and environment", reading: memoryRule, writing: memoryRule, removing: memoryRule,
			where: []string{
				"/proc/*/environ", "/proc/*/mem", "/proc/*/task/*/environ", "/proc/*/task/*/mem", "/proc/kcore", "/dev/mem", "/dev/kmem", "/dev/port",
			},
		},
		{
			what: "the boot folder", writing: bootRule, removing: bootRule,
			where: []string{"/boot/**", "/efi/**"},
		},
		{
			what: "the kernel's switches", writing: kernelRule, removing: kernelRule,
			where: []string{
				"/proc/sysrq-trigger", "/proc/sys/kernel/**", "/proc/*/oom_score_adj", "/proc/*/uid_map", "/proc/*/gid_map",
				"/sys/**", "/proc/acpi/**",
			},
			except: []string{
				"/sys/class/**", "/sys/devices/**", "/sys/fs/cgroup/**", "/sys/module/*/parameters/**", "/sys/bus/**", "/proc/self/**",
				"/sys/power/state",
			},
		},
		{
			what: "the administrator's home", writing: adminRule, removing: adminRule,
			where: []string{"/root/**", "/var/root/**"},
		},
		{
			what: "programs and libraries without which nothing starts", writing: vitalRule, removing: vitalRule,
			where: vitalFiles(),
		},
	}
}

// vitalFiles are single files whose loss stops the system.
func vitalFiles() []string {
	var all []string
	for name := range strings.FieldsSeq("sh bash dash env ls cp mv rm cat chmod chown mount su sudo login init systemd systemctl busybox passwd ld.so true test dpkg rpm apt ln sed grep") {
		for _, dir := range []string{"/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/"} {
			all = append(all, dir+name)
		}
	}
	for _, dir := range []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/lib/*-linux-gnu", "/usr/lib/*-linux-gnu", "/lib/*-linux-musl", "/lib/*-linux-gnueabihf"} {
		all = append(all, dir+"/libc.so*", dir+"/libc-*.so", dir+"/ld-linux*.so*", dir+"/ld-musl*.so*", dir+"/libpthread*.so*", dir+"/libdl*.so*")
	}
	return append(all, "/lib/systemd/systemd", "/usr/lib/systemd/systemd", "/vmlinuz", "/vmlinuz.old", "/initrd.img", "/etc/machine-id", "/etc/ld.so.cache")
}

func keyPlaces() []place {
	return []place{
		{
			what: "SSH keys and settings", reading: keyRule, writing: keyRule, removing: keyRule,
			where: []string{"**/.ssh/**"},
		},
		{
			what: "private keys by name", reading: keyRule, writing: keyRule, removing: keyRule,
			where: []string{"**/id_rsa", "**/id_dsa", "**/id_ecdsa", "**/id_ed25519", "**/id_ecdsa_sk", "**/id_ed25519_sk", "**/id_xmss"},
		},
		{
			what: "GnuPG keys", reading: keyRule, writing: keyRule, removing: keyRule,
			where: []string{"**/.gnupg/**"},
		},
		{
			what: "password stores, keyrings and age keys", reading: keyRule, writing: keyRule, removing: keyRule,
			where: []string{
				"**/.password-store/**", "~/.local/share/keyrings/**", "~/.gnome2/keyrings/**", "~/.local/share/kwalletd/**", "~/.kde/share/apps/kwallet/**",
				"~/Library/Keychains/**", "/Library/Keychains/**", "/System/Library/Keychains/**", "/private/var/db/SystemKey", "~/.config/sops/age/**", "~/.age/**",
				"~/.config/op/**", "~/.op/**", "~/.config/Bitwarden/**", "~/.config/Bitwarden CLI/**", "~/.lastpass/**", "~/.config/1Password/**",
				"~/.vault-token", "~/AppData/Roaming/Microsoft/Credentials/**", "~/AppData/Roaming/Microsoft/Protect/**", "~/AppData/Local/Microsoft/Credentials/**",
			},
		},
		{
			what: "wallets", reading: keyRule, writing: keyRule, removing: keyRule,
			where: []string{
				"~/.bitcoin/wallet*", "~/.bitcoin/wallets/**", "~/.litecoin/wallet*", "~/.dogecoin/wallet*", "~/.ethereum/keystore/**", "~/.electrum/wallets/**",
				"~/.config/solana/**", "~/.config/Exodus/**", "~/.monero/**", "~/.zcash/wallet*", "~/.foundry/keystores/**",
			},
		},
	}
}

func credentialPlaces() []place {
	row := func(what string, where ...string) place {
		return place{what: what, reading: credRule, removing: credRule, where: where}
	}
	cloud := row("cloud accounts", "**/.aws/**", "~/.azure/**", "~/.config/gcloud/**", "~/.boto", "~/.s3cfg", "~/.oci/**", "~/.aliyun/**",
		"~/.bluemix/**", "~/.config/doctl/**", "~/.config/hcloud/**", "~/.config/linode-cli", "~/.config/scw/**", "~/.fly/config.yml",
		"~/.config/rclone/**", "~/.rclone.conf", "~/.config/ibmcloud/**", "~/.config/openstack/**", "~/.terraform.d/credentials.tfrc.json",
		"~/.config/.wrangler/**", "~/.wrangler/config/**", "~/.config/netlify/**", "~/.netlify/config.json", "~/.local/share/com.vercel.cli/**", "~/.pulumi/credentials.json",
		"~/.databrickscfg", "~/.snowsql/config", "~/.config/heroku/**", "~/.tfe/**")
	cloud.except = []string{"~/.config/gcloud/configurations/**", "~/.config/gcloud/logs/**", "~/.azure/config", "~/.azure/logs/**", "~/.azure/cliextensions/**"}
	return []place{
		cloud,
		{
			what: "the files that the seed's core names", reading: credRule, writing: credRule, removing: credRule,
			where: []string{"**/.aws/credentials", "**/.config/*/credentials.env"},
		},
		row("clusters and containers", "**/.kube/config", "~/.kube", "**/.docker/config.json", "~/.docker", "**/.dockercfg", "~/.config/containers/auth.json",
			"/run/user/*/containers/auth.json", "/run/secrets/**", "/var/run/secrets/**", "~/.config/helm/registry/config.json", "/etc/rancher/k3s/k3s.yaml",
			"/etc/docker/key.json", "~/.config/argocd/config", "~/.argocd/config"),
		row("logins of programs", "**/.netrc", "**/_netrc", "**/.authinfo", "**/.authinfo.gpg", "**/.git-credentials", "~/.config/git/credentials", "**/.pgpass", "~/.my.cnf",
			"~/.mylogin.cnf", "~/.config/gh/**", "~/.config/hub", "~/.config/glab-cli/**", "~/.config/github-copilot/**", "~/.subversion/auth/**",
			"~/.config/ngrok/ngrok.yml", "~/.ngrok2/ngrok.yml", "~/.circleci/cli.yml", "~/.travis/config.yml", "~/.htpasswd", "~/.msmtprc", "~/.config/msmtp/**",
			"~/.fetchmailrc", "~/.offlineimaprc", "~/.smbcredentials", "/etc/mysql/debian.cnf", "/etc/postfix/sasl_passwd*", "~/.config/hexchat/**", "~/.irssi/config",
			"~/.config/weechat/sec.conf", "~/.sentryclirc", "~/.vnc/passwd", "~/.config/remmina/**"),
		row("package registries", "~/.npmrc", "~/.pypirc", "~/.gem/credentials", "~/.cargo/credentials", "~/.cargo/credentials.toml", "~/.config/composer/auth.json",
			"~/.composer/auth.json", "~/.nuget/NuGet/NuGet.Config", "~/.m2/settings-security.xml", "~/.config/hf/token", "~/.cache/huggingface/token", "~/.huggingface/token",
			"~/.kaggle/kaggle.json", "~/.config/kaggle/kaggle.json"),
		row("logins of coding agents", "~/.claude/.credentials.json", "~/.codex/auth.json", "~/.gemini/oauth_creds.json", "~/.local/share/opencode/auth.json",
			"~/.config/anthropic/**", "~/.config/openai/**", "~/.openai/**", "~/.config/goose/secrets.yaml"),
		{what: "Kerberos tickets", reading: credRule, where: []string{"/tmp/krb5cc_*"}},
		browsers(),
	}
}

// browsers is the row of what browsers and chat programs remember.
func browsers() place {
	files := []string{"Login Data*", "Cookies*", "Web Data*", "Local State", "Local Storage/**", "logins.json", "logins-backup.json", "key3.db", "key4.db", "cookies.sqlite*", "signons.sqlite", "cert9.db"}
	var where []string
	for _, root := range []string{
		"~/.mozilla/**/", "~/.config/google-chrome/**/", "~/.config/google-chrome-beta/**/", "~/.config/chromium/**/", "~/.config/BraveSoftware/**/", "~/.config/microsoft-edge/**/",
		"~/.config/opera/**/", "~/.config/vivaldi/**/", "~/.thunderbird/**/", "~/.config/Slack/**/", "~/.config/discord/**/", "~/.config/Signal/**/", "~/snap/**/", "~/.var/app/**/",
		"~/.librewolf/**/", "~/.zen/**/", "~/Library/Application Support/**/", "~/AppData/**/",
	} {
		for _, f := range files {
			where = append(where, root+f)
		}
	}
	where = append(where, "~/Library/Cookies/**", "~/.mozilla/firefox", "~/.mozilla", "~/.config/google-chrome", "~/.config/chromium", "~/.config/BraveSoftware", "~/.thunderbird",
		"~/.mozilla/firefox/*", "~/.config/google-chrome/Default", "~/.config/chromium/Default")
	return place{what: "browsers' and chat programs' logins, cookies and sessions", reading: credRule, removing: credRule, where: where}
}
