package telegram

// phrase names a text that a person reads.
type phrase string

// english is every text in English. What stands in braces is filled in.
func english(p phrase) string {
	for _, table := range []func() map[phrase]string{cardTexts, buttonTexts, talkTexts} {
		if s, ok := table()[p]; ok {
			return s
		}
	}
	return ""
}

// cardTexts are what cards say.
func cardTexts() map[phrase]string {
	return map[phrase]string{
		"title.one":   "🔸 Allow?",
		"title.many":  "🔸 Allow {n} calls?",
		"title.some":  "🔸 {open} of {n} calls wait",
		"title.done":  "Answered:",
		"from":        "From {agent}",
		"intent":      "You asked: {intent}",
		"in":          "In {cwd}",
		"mount":       "Mount {mount}",
		"args":        "Arguments:",
		"why":         "Why it asks: {why}",
		"cut":         "… {left} more characters",
		"calls.file":  "The {n} calls are in the attached file.",
		"calls.ended": "{n} of them: ",
		"calls.more":  "The others ended too; the inbox shows how.",
		"file":        "All of it is in the attached file.",
		"file.hash":   "All of ask {id}. SHA-256 {hash}",
		"unseen":      "Not all of it fits here, so it cannot be allowed here. Open the inbox to see it whole.",
		"many":        "One by one they can be answered in the inbox.",
		"until":       "Answer by {at} · {id}",
		"id":          "Ask {id}",

		"state.pending":    "⏳ Waits for you",
		"state.allowed":    "✅ Allowed once by {by} at {at}",
		"state.denied":     "🚫 Denied by {by} at {at}; it did not run",
		"state.expired":    "⌛ Expired at {at}: nobody answered in time. It did not run",
		"state.withdrawn":  "↩️ Withdrawn by the agent at {at}; it did not run",
		"state.superseded": "🔁 Replaced by a changed call at {at}; it did not run",
		"state.spent":      "▶️ Allowed once by {by} at {at}; the call was started",
		"state.lapsed":     "💤 Allowed by {by} at {at}, but not run in time; the permit is void",
		"state.succeeded":  "✅ Allowed once by {by} at {at}; it ran and worked",
		"state.failed":     "❌ Allowed once by {by} at {at}; it ran and failed",
		"state.unknown":    "❔ Allowed once by {by} at {at}; how it ended was never told",
		"words":            "Words for the agent: {words}",
		"detail":           "The agent says: {detail}",
	}
}

// buttonTexts are the buttons, and what a press is answered.
func buttonTexts() map[phrase]string {
	return map[phrase]string{
		"button.allow":     "Allow once",
		"button.deny":      "Deny",
		"button.allow.all": "Allow all {n} once",
		"button.deny.all":  "Deny all {n}",
		"button.allow.nth": "Allow {n}. once",
		"button.deny.nth":  "Deny {n}.",
		"button.reply":     "Reply…",
		"button.why":       "Why?",

		"tap.allowed":  "Allowed once.",
		"tap.denied":   "Denied.",
		"tap.too.late": "{state}. Your answer changed nothing.",
		"tap.again":    "You answered this already. {state}.",
		"tap.stranger": "You are not among those who may decide this. Nothing was decided.",
		"tap.place":    "This button belongs to another chat. Nothing was decided.",
		"tap.unknown":  "This button means nothing any more. Nothing was decided by it.",
		"tap.final":    "Nobody can allow this call. Nothing was allowed.",
		"tap.failed":   "Your answer could not be kept. The card shows how it stands; press again.",
		"tap.over":     "Nothing of this ask waits any more.",
	}
}

// talkTexts are what messages are answered.
func talkTexts() map[phrase]string {
	return map[phrase]string{
		"prompt":             "Reply to this message with your words for the agent. They deny what waits; nothing that you write here allows anything.\nAsk {id}",
		"prompt.placeholder": "Words for the agent: they deny",
		"words.kept":         "Denied. Your words go to the agent.",
		"words.text":         "Only text can be passed on. Nothing was decided.",
		"words.bad":          "Nothing was decided: the words {problem}.",
		"words.lost":         "This is no reply to a card that waits, so nothing was decided. /pending lists what waits.",
		"words.hint":         "To answer in words, reply to a card. /help lists what I understand.",

		"why.title":  "Why {id} was not simply run",
		"why.judge":  "{judge}: score {score}, confidence {confidence}",
		"why.signal": "• {category} {score}: {message}",
		"why.usage":  "Send /why and the id below a card, or its first four characters at least.",
		"why.none":   "No ask has this id, or several begin like it.",

		"pending.none": "Nothing waits for you.",
		"pending.some": "{n} asks wait for you:",
		"pending.line": "{at} · {id} {agent}: {wanted}",
		"pending.more": "… and {n} more",
		"status":       "Cards go to chat {chat}. {n} asks wait. The platform was last heard at {at}.",
		"help": "I ask you before an agent does something that was not simply let through.\n\n" +
			"Allow once lets exactly the shown call run, one time. Deny stops it. To say what to do instead, reply to the card: that denies it, and your words reach the agent.\n\n" +
			"/pending lists what waits\n/why ID shows the judges' signals\n/status tells how I do\n/help shows this",
		"menu.pending": "What waits for you",
		"menu.why":     "Why a call was not simply run",
		"menu.status":  "How the bot does",
		"menu.help":    "What you can do here",

		"pair.done":     "Paired. Cards come to this chat, and you may decide.",
		"pair.decide":   "Paired: you may decide. Cards go to another chat, which the configuration names.",
		"pair.bad":      "This pairing code is wrong or too old. 'vaglio pair' prints a new one.",
		"pair.stranger": "This bot works for somebody else. To pair it, send /start and the code that 'vaglio pair' prints.",
		"pair.already":  "You are paired already. /help lists what I understand.",
		"away":          "I could not listen between {from} and {to}. A button that was pressed meanwhile may not have reached me: {n} asks still wait, please press again.",
		"moved":         "The card of this ask cannot be changed any more; this is how it stands.",
		"failed":        "Something went wrong here; nothing was decided. Please try again.",
	}
}
