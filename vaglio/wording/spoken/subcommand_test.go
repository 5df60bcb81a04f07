package spoken

import (
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/wording"
)

func TestSubcommands(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ operands, words, said string }{
		{"vm deallocate", "vm deallocate -g prod -n web1", "stops the virtual machine web1 in prod"},
		{"aks scale", "aks scale -n c1 --node-count 1", "scales the cluster c1: node-count 1"},
		{"delete queue name=jobs", "delete queue name=jobs", "deletes the queue jobs"},
		{"ci cancel pipeline 9", "ci cancel pipeline 9", "cancels the pipeline 9"},
		{"addons:create db1", "addons:create db1", ""},
		{"apps create-deployment a1", "apps create-deployment a1", "creates a deployment of the app a1"},
		{"logs delete-log-group", "logs delete-log-group --log-group-name g", "deletes the log group g"},
		{"lambda update-function-code", "lambda update-function-code --function-name f", "updates the code of the function f"},
		{"autoscaling set-desired-capacity", "autoscaling set-desired-capacity --auto-scaling-group-name a --desired-capacity 0", "sets desired-capacity of a: 0"},
		{"rds restore-db-instance-from-db-snapshot", "rds restore-db-instance-from-db-snapshot --db-instance-identifier d", "restores the db instance d"},
		{"storage blob delete-batch", "storage blob delete-batch --account-name acme", ""},
		{"deploy-request deploy db 1", "deploy-request deploy db 1", ""},
		{"refunds create", "refunds create --charge c --amount 700 --currency eur", "refunds 700 eur: c"},
		{"refunds create", "refunds create --charge c", ""},
		{"run services delete web", "run services delete web", "deletes the service web"},
	} {
		said := Subcommand(strings.Fields(r.operands), strings.Fields(r.words), func(name string) []string {
			return strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == ' ' })
		})
		if got := wording.Sentence(said).String(); got != r.said {
			t.Errorf("%s: %q, want %q", r.words, got, r.said)
		}
	}
}

func TestCmdlets(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ line, said string }{
		{"Stop-AzVM -Name web -ResourceGroupName rg -Force", "stops the virtual machine web in rg"},
		{"Remove-DnsServerZone acme.local", "removes the zone acme.local"},
		{"Remove-VM -Id a1", "removes the virtual machine a1"},
		{"Remove-VM -Name a b", ""}, // one of them may be something else
		{"Remove-VM", "removes the virtual machines that another command lists"},
		{"Stop-VM -Force", "stops the virtual machines that another command lists"},
		{"Stop-VM -ComputerName hv1 -Force", "stops the virtual machines that another command lists on hv1"},
		{"Stop-VM -Name web -ComputerName hv1", "stops the virtual machine web on hv1"},
		{"Stop-VM -Force web", ""}, // the word may be the option's
		{"Remove-Frobnicator -Name x", ""},
		{"Frobnicate-VM -Name x", ""},
		{"stop-vm -Name x", ""}, // a program of that name
	} {
		words := strings.Fields(r.line)
		said, _ := Cmdlet(words[0], words[1:], camelOrUpper)
		if got := wording.Sentence(said).String(); got != r.said {
			t.Errorf("%s: %q, want %q", r.line, got, r.said)
		}
	}
}

// camelOrUpper splits a name into its words, and keeps VM together.
func camelOrUpper(name string) []string { return camel(strings.ReplaceAll(name, "VM", "Vm")) }
