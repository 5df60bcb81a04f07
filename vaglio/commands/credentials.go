package commands

// credentialOptions are options whose value a program uses as a credential or as its
// settings, and does not print. Tables refer to them as @credentials.
const credentialOptions = "-i --kubeconfig --config --key --cert -E --cacert --capath --netrc-file --private-key --certificate --userconfig " +
	"--defaults-file --defaults-extra-file --identity --identity-file --client-key --client-certificate --tls-key --ssl-key --key-file " +
	"--private-key-file --service-account-key-file --credentials-file --vault-password-file --authfile --registry-config -key --homedir " +
	"--docker-config --pubring --secret-keyring --npmrc --creds --sslkey --sslcert"
