// Table cards: a QR code and a link for each table. Whoever holds a card may enter results at that table.
import { api, h, stored } from "./base.js";

const base = document.getElementById("base"), place = document.getElementById("cards"), note = document.getElementById("note");

async function main() {
  let found;
  try { found = await api("/cards", { token: stored("desk") || "" }); } catch (error) {
    place.replaceChildren(h("p", { class: "note bad" }, "Open the director's desk first; the cards belong to the director."));
    return;
  }
  const local = ["127.0.0.1", "localhost", "[::1]"].includes(location.hostname);
  base.value = local && found.addresses?.length ? `${location.protocol}//${found.addresses[0]}:${location.port}` : location.origin;
  if (local && !found.reachable) note.textContent = "The service listens on this computer only. Start it with --host 0.0.0.0, then phones in the room reach it.";
  const draw = () => {
    const address = base.value.replace(/\/+$/, "");
    place.replaceChildren(...found.tables.map((t) => h("section", { class: "tablecard" },
      h("img", { src: `/qr.svg?text=${encodeURIComponent(address + t.path)}`, alt: `QR code of table ${t.section}${t.table}`, width: 128, height: 128 }),
      h("strong", {}, `${t.section}${t.table}`), h("span", {}, found.name), h("code", {}, address + t.path))));
  };
  base.addEventListener("input", draw);
  document.getElementById("print").addEventListener("click", () => print());
  draw();
}
main();
