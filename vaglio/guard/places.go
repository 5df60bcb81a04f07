package guard

import (
	"slices"
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
	// replacing is for what writes a whole file anew, where that is worse than
	// adding to it; "" is the same as writing.
	replacing string
	// where are the patterns: ~/ is any home, **/ any folder, a trailing /** the
	// folder and all below, * and ? stay within one step.
	where []string
	// except are patterns of what is free below.
	except []string
	// endings are those by which a find of files picks the place's out: other
	// endings say too little.
	endings []string
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
	return slices.Concat(systemPlaces(), kernelPlaces(), keyPlaces(), credentialPlaces())
}

func systemPlaces() []place {
	return []place{
		{
			what: "accounts and password hashes", reading: authRead, writing: authWrite, removing: authWrite,
			where: []string{
				"/etc/passwd", "/etc/passwd-", "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d/**",
				"/etc/passwd~", "/etc/passwd.bak", "/etc/passwd.old", "/etc/passwd.orig", "/etc/shadow~", "/etc/shadow.bak", "/etc/shadow.old", "/etc/shadow.orig",
				"/etc/gshadow~", "/etc/gshadow.bak", "/etc/sudoers~", "/etc/sudoers.bak", "/etc/sudoers.old", "/etc/sudoers.tmp", "/etc/sudoers.dist",
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
				"/lib/security/**", "/lib64/security/**", "/usr/lib/security/**", "/usr/lib64/security/**", "/lib/*-linux-gnu/security/**", "/usr/lib/*-linux-gnu/security/**",
				"/var/spool/cron/**", "/etc/nsswitch.conf", "/etc/login.defs", "/etc/securetty", "/etc/krb5.keytab",
			},
			endings: []string{".conf"},
		},
		{
			what: "server keys", reading: keyRule, writing: authWrite, removing: authWrite,
			where: []string{
				"/etc/ssh/ssh_host_*_key", "/etc/ssl/private/**", "/etc/letsencrypt/live/*/privkey*.pem", "/etc/letsencrypt/archive/*/privkey*.pem",
				"/etc/letsencrypt/keys/**", "/etc/pki/tls/private/**", "/etc/krb5.keytab", "/etc/wireguard/*.conf", "/etc/ipsec.secrets", "/etc/ipsec.d/private/**",
				"/etc/ppp/pap-secrets", "/etc/ppp/chap-secrets", "/etc/NetworkManager/system-connections/**", "/etc/wpa_supplicant/wpa_supplicant*.conf",
				"/etc/kubernetes/pki/**", "/var/lib/kubelet/pki/**", "/etc/kubernetes/admin.conf", "/etc/kubernetes/super-admin.conf", "/etc/kubernetes/kubelet.conf", "/etc/openvpn/*.key", "/etc/openvpn/*/*.key", "/etc/puppetlabs/puppet/ssl/private_keys/**",
				"/etc/chef/*.pem", "/etc/bind/rndc.key", "/etc/exim4/passwd.client", "/etc/gitlab/gitlab-secrets.json", "/var/lib/jenkins/secrets/**", "/var/lib/samba/private/**",
				"/var/lib/iwd/*.psk", "/etc/dovecot/private/**",
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
			what: "the administrator's home", writing: adminRule, removing: adminRule,
			where: []string{"/root/**", "/var/root/**"},
		},
		{
			what: "programs and libraries without which nothing starts", writing: vitalRule, removing: vitalRule,
			where: vitalFiles(), endings: []string{".so", ".so."},
		},
	}
}

// kernelPlaces are what a machine starts from and what steers its kernel.
func kernelPlaces() []place {
	return []place{
		{
			what: "the boot folder", writing: bootRule, removing: bootRule,
			where: []string{"/boot/**", "/efi/**"},
		},
		{
			what: "the kernel's switches", writing: kernelRule, removing: kernelRule,
			where: []string{
				"**/proc/sysrq-trigger", "/proc/sys/kernel/**", "/proc/sys/vm/panic_on_oom", "/proc/sys/fs/binfmt_misc/**", "/proc/*/oom_score_adj", "/proc/*/oom_adj",
				"/proc/*/uid_map", "/proc/*/gid_map",
				"/sys/**", "/proc/acpi/**",
			},
			except: []string{
				"/sys/class/**", "/sys/devices/**", "/sys/fs/cgroup/**", "/sys/module/*/parameters/**", "/sys/bus/**", "/proc/self/**",
				"/sys/power/state",
			},
		},
		{
			what: "the switches that unplug a disk or another device", writing: kernelRule, removing: kernelRule,
			where: []string{"/sys/block/*/device/delete", "/sys/block/*/device/state", "/sys/class/**/device/delete", "/sys/class/**/device/state", "/sys/devices/**/delete", "/sys/bus/**/delete", "/sys/bus/**/remove", "/sys/devices/**/remove"},
		},
		{
			what: "the settings without which no file system is mounted, and the lists of what is installed", replacing: vitalRule, removing: vitalRule,
			where: []string{
				"/etc/fstab", "/etc/crypttab", "/etc/inittab", "/var/lib/dpkg/status", "/var/lib/dpkg/available", "/var/lib/dpkg/info", "/var/lib/dpkg/alternatives", "/lib/apk/db/**",
				"/var/lib/rpm/**", "/usr/lib/sysimage/rpm/**", "/var/lib/pacman/local", "/var/lib/pacman/local/*",
			},
		},
		{
			what: "the devices that every program expects", removing: vitalRule,
			where: []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/console", "/dev/ptmx", "/dev/pts/**", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"},
		},
		{
			what: "vaglio's own program", writing: ownProcess, removing: ownProcess,
			where: []string{"/usr/bin/vaglio", "/usr/local/bin/vaglio", "/opt/**/bin/vaglio", "~/go/bin/vaglio", "~/.local/bin/vaglio", "~/bin/vaglio", "/home/linuxbrew/.linuxbrew/bin/vaglio"},
		},
		{
			what: "the socket by which the person answers", reading: ownID, writing: ownID, removing: ownID,
			where: []string{"**/vaglio/admin.sock"},
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
				"~/.vault-token", "~/.config/keepassxc/**", "~/.config/chezmoi/key.txt", "~/.config/age/**", "~/.local/share/atuin/key", "~/.chef/*.pem", "~/AppData/Roaming/Microsoft/Credentials/**", "~/AppData/Roaming/Microsoft/Protect/**", "~/AppData/Local/Microsoft/Credentials/**",
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
		"~/.config/configstore/firebase-tools.json", "~/.config/stripe/config.toml", "~/.supabase/access-token", "~/.railway/config.json", "~/.config/flyctl/**", "~/.config/fly/**",
		"~/.expo/state.json", "~/.config/planetscale/**", "~/.snowflake/connections.toml", "~/.snowflake/config.toml", "~/.jfrog/**", "~/.config/cachix/**", "~/.config/doppler/**", "~/.doppler/**",
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
			"~/.fetchmailrc", "~/.offlineimaprc", "~/.smbcredentials", "/etc/mysql/debian.cnf", "/etc/postfix/sasl_passwd*", "~/.config/hexchat/**", "~/.config/filezilla/sitemanager.xml", "~/.config/filezilla/recentservers.xml", "~/.filezilla/sitemanager.xml",
			"~/.purple/accounts.xml", "~/.config/Signal/config.json", "~/.local/share/uv/credentials/**", "~/.config/pypoetry/auth.toml", "~/.sbt/.credentials", "~/.ivy2/.credentials", "~/.irssi/config",
			"~/.config/weechat/sec.conf", "~/.sentryclirc", "~/.vnc/passwd", "~/.config/remmina/**"),
		row("package registries", "~/.npmrc", "~/.pypirc", "~/.gem/credentials", "~/.cargo/credentials", "~/.cargo/credentials.toml", "~/.config/composer/auth.json",
			"~/.composer/auth.json", "~/.nuget/NuGet/NuGet.Config", "~/.m2/settings-security.xml", "~/.config/hf/token", "~/.cache/huggingface/token", "~/.cache/huggingface/stored_tokens", "~/.huggingface/token",
			"~/.kaggle/kaggle.json", "~/.config/kaggle/kaggle.json"),
		row("logins of coding agents", "~/.claude/.credentials.json", "~/.codex/auth.json", "~/.gemini/oauth_creds.json", "~/.local/share/opencode/auth.json",
			"~/.config/anthropic/**", "~/.config/openai/**", "~/.openai/**", "~/.config/goose/secrets.yaml"),
		{what: "Kerberos tickets", reading: credRule, where: []string{"/tmp/krb5cc_0", "/tmp/krb5cc_500", "/tmp/krb5cc_1000", "/tmp/krb5cc_1001", "/tmp/krb5cc_1002"}},
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
