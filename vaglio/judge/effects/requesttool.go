package effects

import (
	"cmp"
	"strings"
)

// request reads executors that send HTTP requests.
func (t *tool) request() bool {
	address, ok := t.text("url", "uri", "endpoint", "address", "href")
	if !ok {
		return false
	}
	method, has := t.text("method", "http_method", "httpMethod", "verb", "request_method")
	http := t.has("http", "https", "request", "fetch", "curl", "rest", "api", "webhook", "requests", "url", "scrape", "crawl", "download", "wget", "extract") || has
	if !http || t.has("browser") || t.has("shorten", "create", "share", "send", "post", "publish", "subscribe") && !t.has("http", "request", "requests", "rest", "api", "webhook") {
		return false
	}
	if !has {
		method = "GET"
		for _, m := range []string{"post", "put", "patch", "delete", "webhook"} {
			if t.has(m) {
				method = strings.ToUpper(m)
			}
		}
		if t.args["body"] != nil || t.args["data"] != nil || t.args["json"] != nil || t.args["payload"] != nil {
			method = cmp.Or(strings.TrimPrefix(method, "GET"), "POST")
		}
	}
	if method == "WEBHOOK" {
		method = "POST"
	}
	body, _ := t.text("body", "data", "payload")
	t.r.add(t.r.request(method, address, body)...)
	for _, k := range []string{"output", "save_to", "path", "destination", "filename", "file"} {
		if s, ok := t.text(k); ok {
			t.r.add(t.r.write(&invocation{cwd: t.r.world.cwd}, literal(s), "writes")...)
		}
	}
	return true
}
