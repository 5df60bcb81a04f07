package headline

import (
	"maps"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/wording"
)

// said is how words of a tool's name are said.
type said struct {
	phrase wording.Phrase
	words  string
}

// acts are verbs, said with their object.
func acts() []said { return slices.Concat(turns(), ends()) }

// turns are the verbs that another one takes back, as unarchive does archive, and that
// set nothing going meanwhile. What was noticed stays noticed: they can be undone in part.
func turns() []said {
	return []said{
		{"renames %s", "rename"},
		{"archives %s", "archive"},
		{"reopens %s", "reopen unarchive"},
		{"assigns %s", "assign"},
		{"reassigns %s", "reassign"},
		{"blocks %s", "block ban"},
		{"suspends %s", "suspend pause"},
		{"deactivates %s", "deactivate disable"},
		{"locks %s", "lock"},
	}
}

// ends are the verbs of which no other one takes everything back.
func ends() []said {
	return []said{
		{"closes %s", "close resolve"},
		{"starts %s", "start"},
		{"stops %s", "stop shutdown"},
		{"restarts %s", "restart reboot rerun retry"},
		{"resumes %s", "resume unpause"},
		{"scales %s", "scale resize autoscale"},
		{"activates %s", "activate enable"},
		{"creates %s", "create new make insert generate provision register init initialize"},
		{"adds %s", "add append enroll enlist"},
		{"updates %s", "update edit modify change patch upsert amend"},
		{"moves %s", "move"},
		{"replaces %s", "replace overwrite"},
		{"resets %s", "reset"},
		{"rotates %s", "rotate"},
		{"restores %s", "restore"},
		{"accepts %s", "accept"},
		{"rejects %s", "reject decline"},
		{"merges %s", "merge"},
		{"submits %s", "submit"},
		{"publishes %s", "publish release"},
		{"deploys %s", "deploy redeploy"},
		{"deletes %s", "delete del purge trash discard erase wipe obliterate prune expunge"},
		{"removes %s", "remove rm unlink"},
		{"destroys %s", "destroy terminate decommission teardown nuke deprovision"},
		{"empties %s", "empty truncate flush clear"},
		{"cancels %s", "cancel abort void"},
		{"refunds %s", "refund"},
		{"pays %s", "pay settle"},
		{"approves %s", "approve authorize authorise"},
		{"grants %s", "grant"},
		{"revokes %s", "revoke"},
		{"triggers %s", "trigger invoke dispatch"},
		{"transfers %s", "transfer"},
		{"invites %s", "invite"},
		{"unlocks %s", "unlock"},
	}
}

// things are nouns, said with a name or a number. Their words are also those under
// which arguments hold it: customer in customer_id. Two words that mean one thing
// are joined by a dash.
func things() []said { return slices.Concat(ofPeople(), ofSystems()) }

// ofPeople are things that people and companies have.
func ofPeople() []said {
	return []said{
		{"the account %s", "account"},
		{"the alarm %s", "alarm"},
		{"the appointment %s", "appointment"},
		{"the booking %s", "booking reservation"},
		{"the board %s", "board"},
		{"the campaign %s", "campaign"},
		{"the channel %s", "channel conversation"},
		{"the comment %s", "comment"},
		{"the company %s", "company"},
		{"the contact %s", "contact"},
		{"the contract %s", "contract"},
		{"the customer %s", "customer client"},
		{"the deal %s", "deal"},
		{"the document %s", "document doc"},
		{"the employee %s", "employee"},
		{"the event %s", "event"},
		{"the group %s", "group"},
		{"the invoice %s", "invoice"},
		{"issue %s", "issue"},
		{"the lead %s", "lead"},
		{"the list %s", "list"},
		{"the meeting %s", "meeting"},
		{"the member %s", "member"},
		{"the message %s", "message"},
		{"the order %s", "order"},
		{"the organization %s", "organization org"},
		{"the page %s", "page"},
		{"the patient %s", "patient"},
		{"the payment %s", "payment paymentintent charge"},
		{"the post %s", "post"},
		{"the product %s", "product"},
		{"the project %s", "project"},
		{"the record %s", "record"},
		{"the role %s", "role"},
		{"the subscription %s", "subscription"},
		{"the task %s", "task"},
		{"the team %s", "team"},
		{"the ticket %s", "ticket"},
		{"the transaction %s", "transaction"},
		{"the user %s", "user"},
	}
}

// ofSystems are things that programs have.
func ofSystems() []said {
	return []said{
		{"the app %s", "app application"},
		{"the branch %s", "branch"},
		{"the bucket %s", "bucket"},
		{"the build %s", "build"},
		{"the certificate %s", "certificate cert"},
		{"the cluster %s", "cluster"},
		{"the container %s", "container"},
		{"the database %s", "database db"},
		{"the deployment %s", "deployment"},
		{"the device %s", "device"},
		{"the domain %s", "domain"},
		{"the environment %s", "environment"},
		{"the file %s", "file"},
		{"the folder %s", "folder"},
		{"the function %s", "function"},
		{"the index %s", "index"},
		{"the instance %s", "instance vm"},
		{"the job %s", "job"},
		{"the merge request %s", "merge-request mergerequest mr"},
		{"the monitor %s", "monitor"},
		{"the pipeline %s", "pipeline"},
		{"pull request %s", "pull-request pullrequest pr pull"},
		{"the queue %s", "queue"},
		{"the release %s", "release"},
		{"the repository %s", "repository repo"},
		{"the rule %s", "rule"},
		{"the server %s", "server"},
		{"the service %s", "service"},
		{"the site %s", "site website"},
		{"the table %s", "table"},
		{"the tag %s", "tag"},
		{"the volume %s", "volume"},
		{"the webhook %s", "webhook"},
		{"the workflow %s", "workflow"},
		{"the workspace %s", "workspace"},
	}
}

// saidOf finds how a word is said, nil if it is not listed.
func saidOf(list []said, word string) *said {
	for i := range list {
		if slices.Contains(strings.Fields(list[i].words), word) {
			return &list[i]
		}
	}
	return nil
}

// object says what a tool does by the verb of its name, and to what by its nouns and
// arguments: "cancels the subscription sub_1". It says nothing where the name does
// not tell, or no argument says which one.
func (c *call) object() wording.Sentence {
	at := c.verb()
	nouns := c.nouns(at)
	if len(nouns) == 0 {
		return nil
	}
	last := nouns[len(nouns)-1]
	thing := saidOf(things(), last)
	if n := len(nouns); n > 1 {
		if pair := saidOf(things(), nouns[n-2]+"-"+last); pair != nil {
			thing = pair
		}
	}
	names := c.names(thing, strings.Join(nouns, ""), last)
	if len(names) == 0 && membership(last) {
		thing = saidOf(things(), "user")
		names = c.names(thing, "user")
	}
	if len(names) == 0 {
		return nil
	}
	what := wording.Clause{Phrase: "%s %s", Args: []wording.Clause{{Text: strings.Join(nouns, " ")}, named(names)}}
	if thing != nil {
		what = wording.Clause{Phrase: thing.phrase, Args: []wording.Clause{named(names)}}
	}
	out := wording.Sentence{{Phrase: saidOf(acts(), c.words[at]).phrase, Args: []wording.Clause{what}}}
	if where := c.repository(); where != "" && !slices.Contains(names, where) {
		out = append(out, wording.Say("in %s", where))
	}
	return out
}

// verb is the place of the first verb in the tool's name, -1 if there is none.
func (c *call) verb() int {
	return slices.IndexFunc(c.words, func(w string) bool { return saidOf(acts(), w) != nil })
}

// turned reports whether what the tool does is taken back by another verb. Who is
// taken out of a group can be taken in again.
func (c *call) turned() bool {
	at := c.verb()
	return at >= 0 && (saidOf(turns(), c.words[at]) != nil || c.words[at] == "remove" && slices.ContainsFunc(c.words, membership))
}

// membership reports whether a noun says no more of somebody than that they belong to
// something: they may go by what they are.
func membership(noun string) bool {
	return slices.Contains([]string{"member", "members", "collaborator", "participant"}, noun)
}

// nouns are the words that name what the verb at a place is done to: those behind
// it, or before it if it stands last. There are none where they lead to a second
// thing, which the call would be about as much.
func (c *call) nouns(at int) []string {
	if at < 0 {
		return nil
	}
	words := c.words[at+1:]
	if len(words) == 0 {
		words = c.words[:at]
	}
	for i, w := range words {
		switch w {
		case "to", "from", "into", "in", "on", "of", "at":
			return nil
		case "by", "for", "with", "and", "or", "via", "as", "async", "batch", "status", "state":
			return words[:i]
		}
	}
	return words
}

// names are the names or numbers of a thing, as the arguments tell them: under a key
// that is one of its words, or under one that says no more than that it names.
func (c *call) names(thing *said, words ...string) []string {
	stems := append(words, "")
	if thing != nil {
		stems = append(stems, strings.Fields(strings.ReplaceAll(thing.words, "-", ""))...)
	}
	for _, end := range []string{"iid", "number", "id", "name", "key", "slug", "", "title", "email", "username"} {
		for _, key := range slices.Sorted(maps.Keys(c.args)) {
			if stem, ok := strings.CutSuffix(key, end); !ok || key == "" || !slices.Contains(stems, stem) {
				continue
			}
			found := slices.DeleteFunc(slices.Clone(c.args[key]), func(s string) bool {
				return strings.TrimSpace(s) == "" || s == "true" || s == "false"
			})
			if len(found) > 0 {
				return found
			}
		}
	}
	return nil
}

// repository is the repository or project in which a tool works, with its owner.
func (c *call) repository(others ...string) string {
	where := c.first(append([]string{"repo", "repository", "projectid"}, others...)...)
	if owner := c.first("owner", "org", "organization", "namespace"); owner != "" && where != "" && !strings.Contains(where, "/") {
		return owner + "/" + where
	}
	return where
}

// byName reports whether the judge goes by the tool's name alone.
func (o *one) byName() bool {
	return slices.ContainsFunc(o.said, func(c wording.Clause) bool { return c.Phrase == wording.ByTheTool })
}
