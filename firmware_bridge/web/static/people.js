// Names of a pair: search by name or number, or a guest in one key. Play never waits for this, and names that are keyed
// without a connection wait in the phone's log like results.
import { ApiError, api, button, h, t } from "./base.js";

export function peopleScreen({ page, token, pair, title, names, single, done }) {
  const players = (single ? [0] : [0, 1]).map((i) => ({ number: "", name: names[pair]?.[i] || "" }));
  const lists = [];
  const inputs = players.map((player, i) => {
    const input = h("input", { id: `player${i}`, value: player.name, autocomplete: "off", maxlength: "80", placeholder: t("name-or-number") });
    const list = h("div", { class: "keys" });
    lists.push(list);
    let timer = null;
    input.addEventListener("input", () => {
      player.name = input.value.trim();
      player.number = "";
      clearTimeout(timer);
      timer = setTimeout(async () => {
        const q = input.value.trim();
        if (!q) return list.replaceChildren();
        try {
          const found = await api(`/table/players?q=${encodeURIComponent(q)}`, { token, timeout: 4000 });
          if (input.value.trim() !== q) return; // more has been typed, or somebody was chosen
          list.replaceChildren(...found.slice(0, 6).map((one) => button([one.name, " ", h("small", { class: "soft" }, one.number)], () => {
            clearTimeout(timer);
            Object.assign(player, one);
            input.value = one.name;
            list.replaceChildren();
          })));
        } catch { if (input.value.trim() === q) list.replaceChildren(); }
      }, 150);
    });
    return input;
  });
  return page([t("names"), " · ", title || t("pair", { pair })],
    players.map((player, i) => [h("label", { for: `player${i}` }, t("player", { number: i + 1 })), inputs[i], lists[i],
      button(t("guest"), () => { player.name = t("guest"); player.number = ""; inputs[i].value = t("guest"); }, "plain")]),
    button(t("save-names"), () => done(pair, players), "primary big", { id: "savenames" }), button(t("later"), () => done(pair, null), "plain"));
}

// --- names that are to be sent -----------------------------------------------------------------------------------

// The newest names of a pair take the place of older ones that still wait; each keeps a mark of its own.
export function keepNames(journal, pair, players) {
  const mark = Math.random().toString(36).slice(2, 12);
  return journal.change("people-due", (due) => ({ ...due, [pair]: { players: players.map(({ number, name }) => ({ number, name })), mark } }));
}

let flushing = false;
export async function flushNames(journal, token) {
  if (flushing) return;
  flushing = true;
  try {
    for (const [pair, { players, mark }] of Object.entries((await journal.get("people-due")) || {})) {
      try {
        await api("/table/people", { token, body: { pair: Number(pair), players }, timeout: 8000 });
      } catch (error) {
        // What the service refuses for good would be refused the next time too; anything else waits.
        if (!(error instanceof ApiError) || error.status >= 500 || [401, 403, 408, 429].includes(error.status)) return;
      }
      await journal.change("people-due", (due) => {
        const { [pair]: sent, ...rest } = due || {};
        return sent && sent.mark !== mark ? due : rest;
      });
    }
  } finally {
    flushing = false;
  }
}
