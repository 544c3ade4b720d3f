// Names of a pair: search by name or number, or a guest in one key. Play never waits for this.

import { api, button, h, t } from "./base.js";

export function peopleScreen({ page, token, pair, names, done }) {
  const players = [0, 1].map((i) => ({ number: "", name: names[pair]?.[i] || "" }));
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
          list.replaceChildren(...found.slice(0, 6).map((one) => button([one.name, " ", h("small", { class: "soft" }, one.number)], () => {
            Object.assign(player, one);
            input.value = one.name;
            list.replaceChildren();
          })));
        } catch { list.replaceChildren(); }
      }, 150);
    });
    return input;
  });
  const save = async () => {
    done(pair, players);
    api("/table/people", { token, body: { pair, players } }).catch(() => {});
  };
  return page([t("names"), " · ", t("pair", { pair })],
    players.map((player, i) => [h("label", { for: `player${i}` }, t("player", { number: i + 1 })), inputs[i], lists[i],
      button(t("guest"), () => { player.name = t("guest"); player.number = ""; inputs[i].value = t("guest"); }, "plain")]),
    button(t("save-names"), save, "primary big", { id: "savenames" }), button(t("later"), () => done(pair, null), "plain"));
}
