package spoken

import (
	"strings"
	"testing"
)

func TestReceivers(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ name, of, given, said string }{
		{"boto3.resource().Bucket().delete", "s3 logs", "", "deletes the bucket logs"},
		{"boto3.resource().Bucket().objects.all().delete", "s3 logs -", "", "deletes the objects in the bucket logs"},
		{"boto3.resource().Bucket().objects.filter().delete", "s3 logs -", "", "deletes the objects that a filter selects in the bucket logs"},
		{"boto3.resource().Bucket().objects.all().filter().delete", "s3 logs - -", "", "deletes the objects that a filter selects in the bucket logs"},
		{"docker.from_env().containers.get().remove", "- web", "--force true", "removes the container web"},
		{"docker.from_env().containers.get().remove", "- -", "", "calls remove of lib"},
		{"lib.WebClient().delete", "token", "", "calls delete of lib"}, // the library's own, not a customer
		{"lib.Bucket().delete", "logs", "v1", "calls delete of lib"},   // perhaps one thing of the bucket
		{"kubernetes.client.CoreV1Api().delete_namespaced_pod", "-", "web shop", "deletes the pod web in shop"},
		{"slack_sdk.WebClient().chat_postMessage", "-", "--channel #ops --text Done", "sends a message to #ops: Done"},
	} {
		of := strings.Fields(r.of)
		for i := range of {
			of[i] = strings.TrimPrefix(of[i], "-")
		}
		said, _ := Method(r.name, "lib", strings.Fields(r.given), of, camel)
		if said.String() != r.said {
			t.Errorf("%s: %q, want %q", r.name, said.String(), r.said)
		}
	}
}
