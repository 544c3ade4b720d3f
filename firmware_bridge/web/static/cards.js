// Table cards: a QR code and a link for each table. Whoever holds a card may enter results at that table.
import { api, h, loadWords, stored, t } from "./base.js";

const base = document.getElementById("base"), place = document.getElementById("cards"), note = document.getElementById("note");

async function main() {
  await loadWords();
  let found;
  try { found = await api("/cards", { token: stored("desk") || "" }); } catch {
    place.replaceChildren(h("p", { class: "note bad" }, t("cards.open-desk")));
    return;
  }
  const local = ["127.0.0.1", "localhost", "[::1]"].includes(location.hostname);
  base.value = local && found.addresses?.length ? `${location.protocol}//${found.addresses[0]}:${location.port}` : location.origin;
  if (local && !found.reachable) note.textContent = t("cards.not-reachable");
  const draw = () => {
    const address = base.value.replace(/\/+$/, "");
    place.replaceChildren(...found.tables.map((one) => h("section", { class: "tablecard" },
      h("img", { src: `/qr.svg?text=${encodeURIComponent(address + one.path)}`, alt: t("cards.qr", { place: `${one.section}${one.table}` }), width: 128, height: 128 }),
      h("strong", {}, `${one.section}${one.table}`), h("span", {}, found.name), h("span", { class: "small" }, t("cards.scan")), h("code", {}, address + one.path))));
  };
  base.addEventListener("input", draw);
  document.getElementById("print").addEventListener("click", () => print());
  draw();
}
main();
