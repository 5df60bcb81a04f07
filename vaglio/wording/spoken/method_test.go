package spoken

import (
	"strings"
	"testing"
	"unicode"

	"github.com/metnos/vaglio/vaglio/wording"
)

func TestMethods(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name, given, said string
		final             bool
	}{
		{"boto3.client().delete_bucket", "--Bucket logs", "deletes the bucket logs", false},
		{"boto3.client().delete_bucket", "", "calls delete_bucket of lib", false}, // it may stand in a loop
		{"boto3.client().delete_bucket", "--Bucket $b", "calls delete_bucket of lib", false},
		{"boto3.client().create_bucket", "", "creates a bucket", false},
		{"boto3.client().terminate_instances", "--InstanceIds i-1 i-2", "terminates the instances i-1 and i-2", false},
		{"boto3.client().delete_objects", "--Bucket logs", "calls delete_objects of lib", false}, // nobody knows how many
		{"boto3.client().add_user_to_group", "--GroupName ops --UserName bob", "adds the user bob to the group ops", false},
		{"boto3.client().attach_user_policy", "--PolicyArn p --UserName bob", "attaches the policy p to the user bob", false},
		{"boto3.client().delete_user_policy", "--PolicyName p --UserName bob", "deletes the policy p of the user bob", false},
		{"boto3.client().update_service", "--desiredCount 0 --service web", "updates the service web: desired-count 0", false},
		{"boto3.client().invoke", "--FunctionName f", "triggers the function f", true},
		{"boto3.client().invoke", "--FunctionName f --ClientId c", "calls invoke of lib", false}, // which of them is not known
		{"boto3.client().invoke", "--Name f", "calls invoke of lib", false},                      // the client is the library's, not a customer
		{"boto3.client().authorize_security_group_ingress", "--GroupId g", "calls authorize_security_group_ingress of lib", false},
		{"boto3.client().publish", "--TopicArn t --Message m", "calls publish of lib", false},
		{"boto3.client().create", "--ProjectId p", "calls create of lib", false},
		{"acme.widgets.delete", "--UserId u", "calls delete of lib", false},
		{"boto3.client().terminate", "--InstanceIds i-1 i-2", "terminates the instances i-1 and i-2", false},
		{"boto3.resource().Table().delete", "", "calls delete of lib", false},
		{"stripe.Refund.create", "--amount 500 --charge c", "refunds 500: c", true},
		{"stripe().refunds.create", "--charge c", "creates a refund: charge c", true},
		{"stripe().subscriptions.cancel", "sub_1", "cancels the subscription sub_1", true},
		{"@aws-sdk.client-s3.DeleteBucketCommand", "--Bucket logs", "deletes the bucket logs", false},
		{"redis.Redis().flushdb", "", "empties the database", false},
		{"redis.Redis().incr", "", "calls incr of lib", false},
		{"pymongo.MongoClient().shop.orders.delete_many", "", "deletes every document of orders in shop", false},
		{"pymongo.MongoClient().shop.orders.delete_many", "$?", "deletes documents of orders in shop", false},
		{"elasticsearch.Elasticsearch().delete_by_query", "--index logs --body", "deletes documents of logs that a query finds", false},
		{"elasticsearch.Elasticsearch().delete_by_query", "--index $i", "calls delete_by_query of lib", false},
		{"pymongo.MongoClient().get_collection().delete_many", "o", "calls delete_many of lib", false}, // of which one is not known
		{"pymongo.MongoClient().drop_database", "shop", "drops the database shop", false},
		{"()", "", "calls of lib", false},
	} {
		said, final := Method(r.name, "lib", strings.Fields(r.given), nil, camel)
		if got := wording.Sentence(said).String(); got != r.said || final != r.final {
			t.Errorf("%s %s: %q, %v, want %q, %v", r.name, r.given, got, final, r.said, r.final)
		}
	}
}

func TestCollections(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ line, said string }{
		{"db.orders.deleteMany({})", "deletes every document of orders in shop"},
		{"db.orders.deleteMany( { } );", "deletes every document of orders in shop"},
		{"db.orders.deleteMany({paid: true})", "deletes documents of orders in shop"},
		{"db.getCollection('old.orders').drop()", "drops the collection old.orders in shop"},
		{`db["orders"].insertOne({a: 1})`, "adds documents to orders in shop"},
		{"db.users.updateMany({}, {$set: {a: 1}})", "updates every document of users in shop"},
		{"db.dropDatabase()", "deletes all data in shop"},
		{"db.drop()", "changes the database: SHOWN"},
		{"db.orders.dropDatabase()", "changes the database: SHOWN"},
		{"db.orders.renameCollection('x')", "changes the database: SHOWN"},
		{"db.a.deleteMany({}); db.b.drop()", "changes the database: SHOWN"}, // more than one
		{"db.a.deleteMany(f())", "changes the database: SHOWN"},
		{"x = 1", "changes the database: SHOWN"},
	} {
		if got := Collection(r.line, "SHOWN", wording.Clause{Text: "shop"}).String(); got != r.said {
			t.Errorf("%s: %q, want %q", r.line, got, r.said)
		}
	}
}

// camel splits a name into its words.
func camel(name string) []string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
