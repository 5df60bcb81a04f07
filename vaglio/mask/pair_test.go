package mask_test

import "testing"

// TestPairsInText checks lists of two that a text spells out, and objects whose name stands behind.
func TestPairsInText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`[["Authorization","Bearer ⟦abc.def.ghijkl⟧"],["Accept","text/html"]]`,
		`curl -d '[["Authorization","Bearer ⟦abcdefghijklmnopqrs⟧"]]' https://x`,
		`[[ "X-Api-Key" , "⟦f8333c4774ec50cd1c1bac7a⟧" ]]`,
		`["Proxy-Authorization", "Token ⟦abcd1234efgh⟧"]`,
		`{\"headers\":[[\"Authorization\",\"Bearer ⟦abcdefghijklmnop⟧\"]]}`,
		`headers=[('Authorization', 'Token ⟦abcdefg123⟧')]`,
		`[["password","⟦hunter2x⟧"]]`,
		`{"name":"Authorization","value":"Bearer ⟦abcdefghijklmnop⟧"}`,
		`{"value":"⟦hunter2hunter2⟧","name":"Authorization"}`,
		`[{"name":"Accept","value":"*/*"},{"value":"⟦hunter2hunter2⟧","key":"DB_PASSWORD"}]`,
		`auth_cookie=⟦hunter2hunter2x⟧; make id=zebra42quagga`, `session_cookie = ⟦hunter2hunter2x⟧; id=zebra42quagga`, `Cookie: auth=⟦hunter2hunter2x⟧; id=⟦zebra42quagga⟧`,
		// Nothing of these is a secret.
		`[["token","list"],["password","string"]]`, `["kubectl","token","create"]`, `["token","create"]`,
		`console.log('auth', 'login2024x')`, `[["Accept","application/json"],["X-Request-Id","f8333c47-74ec"]]`,
		`"token","hunter2x"]`, `['token","hunter2x"]`, `"token","hunter2x")`,
		`getSecret("secret_name", "prod-db")`, `{"value":"application/json","name":"Accept"}`, `("authorization", "required")`,
	} {
		exactly(t, text)
	}
}
