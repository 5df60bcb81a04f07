// The check can fail: each of these is wrong, and tsc must say so.
import type { KnownBlock, ModalView } from "@slack/types";
import type { Opts } from "@grammyjs/types";

declare function check<T>(payload: T): void;

// @ts-expect-error A header's text is plain.
check<KnownBlock[]>([{ "type": "header", "text": { "type": "mrkdwn", "text": "x" } }]);
// @ts-expect-error There is no such style.
check<KnownBlock[]>([{ "type": "actions", "elements": [{ "type": "button", "text": { "type": "plain_text", "text": "x" }, "style": "green" }] }]);
// @ts-expect-error A rich text's elements are named otherwise.
check<KnownBlock[]>([{ "type": "rich_text", "elements": [{ "type": "rich_text_code", "elements": [] }] }]);
// @ts-expect-error A modal has a title.
check<ModalView>({ "type": "modal", "blocks": [] });
// @ts-expect-error A message has a text.
check<Opts<string>["sendMessage"]>({ "chat_id": 1 });
// @ts-expect-error There is no such mode.
check<Opts<string>["sendMessage"]>({ "chat_id": 1, "text": "x", "parse_mode": "Html5" });
// @ts-expect-error A button's data is a text.
check<Opts<string>["sendMessage"]>({ "chat_id": 1, "text": "x", "reply_markup": { "inline_keyboard": [[{ "text": "x", "callback_data": 7 }]] } });
// @ts-expect-error There is no such medium.
check<Opts<string>["editMessageMedia"]>({ "chat_id": 1, "message_id": 2, "media": { "type": "picture", "media": "attach://digest" } });
// @ts-expect-error A rich message has blocks that the platform knows.
check<Opts<string>["sendRichMessage"]>({ "chat_id": 1, "rich_message": { "blocks": [{ "type": "box", "text": ["x"] }] } });
