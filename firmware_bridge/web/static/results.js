// Public results. While play goes on there is the ranking at most; boards and scorecards come with the publication.
import { ApiError, api, button, contractText, h, signed, stored, store } from "./base.js";

const main = document.getElementById("main"), path = location.pathname.replace(/^\/results\/?/, "").split("/").filter(Boolean).map(decodeURIComponent);
let own = stored("pair") || "";

function ranking(data) {
  return data.groups.map((g) => h("section", { class: "card" }, h("h2", {}, g.name || "Ranking"), h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { class: "n" }, "Place"), h("th", {}, "Pair"), h("th", { class: "n" }, "Result"))), h("tbody", {}, g.rows.map((r) => h("tr", { class: own === `${r.section}${r.pair}` ? "own" : "" }, h("td", { class: "n place" }, r.place), h("td", {}, data.state === "published" ? h("a", { href: `/results/pair/${r.section}/${r.pair}` }, label(data, r)) : label(data, r)), h("td", { class: "n" }, r.value))))))));
}
const label = (data, r) => `${(data.sections?.length || 1) > 1 ? r.section : ""}${r.pair} ${r.names || ""}`;

async function start() {
  const data = await api("/public/results");
  document.getElementById("title").textContent = data.name || "Results";
  document.title = data.name || "Results";
  const words = { closed: "", live: `live, ${data.counts?.stored} of ${data.counts?.expected} results`, published: data.final ? "final" : "provisional" };
  document.getElementById("state").replaceChildren(words[data.state] ? h("span", { class: "tag" }, words[data.state]) : "");
  if (data.state === "closed") { main.replaceChildren(h("section", { class: "card" }, h("h2", {}, "No results yet"), h("p", {}, "They are shown here once the director has published them."))); return; }
  main.replaceChildren(...ranking(data), ...(data.sections || []).map((s) => h("section", { class: "card" }, h("h2", {}, data.sections.length > 1 ? `Boards, section ${s.letter}` : "Boards"), h("div", { class: "links" }, s.boards.map((b) => h("a", { class: "button", href: `/results/board/${s.letter}/${b}` }, b))))));
}

function hand(text) {
  return h("div", { class: "hand" }, text.split(".").map((cards, i) => h("div", {}, h("span", { class: i === 1 || i === 2 ? "red" : "" }, "♠♥♦♣"[i]), " ", cards.replaceAll("T", "10") || "–")));
}

async function board(section, number) {
  const view = await api(`/public/boards/${encodeURIComponent(section)}/${encodeURIComponent(number)}`);
  document.title = `Board ${view.board}`;
  main.replaceChildren(h("p", {}, h("a", { href: "/results" }, "← Ranking")), h("section", { class: "card" }, h("h2", {}, `Board ${view.board}`), h("p", { class: "soft" }, `Dealer ${view.dealer}, vulnerable ${view.vulnerable}`),
    view.deal ? h("div", { class: "deal" }, ["N", "E", "S", "W"].map((s) => h("div", { class: s }, h("strong", {}, s), hand(view.deal[s]))), h("div", { class: "C soft" }, view.board)) : "",
    view.deal?.makes ? h("table", { class: "small" }, h("caption", { class: "soft" }, "Double dummy tricks"), h("tbody", {}, h("tr", {}, h("th", {}), ["NT", "♠", "♥", "♦", "♣"].map((x) => h("th", { class: "n" }, x))), ["N", "S", "E", "W"].map((s) => h("tr", {}, h("th", { scope: "row" }, s), ["NT", "S", "H", "D", "C"].map((x) => h("td", { class: "n" }, view.deal.makes[s][x])))))) : "",
    h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, ["NS", "EW", "Contract", "Score", "NS %"].map((x, i) => h("th", { class: i > 2 ? "n" : "" }, x)))), h("tbody", {}, view.lines.map((l) => h("tr", { class: own === `${view.section}${l.ns}` || own === `${view.section}${l.ew}` ? "own" : "" }, h("td", {}, l.ns, " ", h("span", { class: "soft small" }, l.ns_names)), h("td", {}, l.ew, " ", h("span", { class: "soft small" }, l.ew_names)), h("td", {}, contractText(l.text)), h("td", { class: "n" }, signed(l.score)), h("td", { class: "n" }, l.percent ?? l.ns_points ?? ""))))))));
}

async function pair(section, number) {
  const view = await api(`/public/pairs/${encodeURIComponent(section)}/${encodeURIComponent(number)}`), me = `${view.section}${view.pair}`;
  document.title = `Pair ${view.pair}`;
  main.replaceChildren(h("p", {}, h("a", { href: "/results" }, "← Ranking")), h("section", { class: "card" }, h("div", { class: "row" }, h("h2", { class: "grow" }, `Pair ${view.pair} ${view.names}`), button(own === me ? "This is us ✓" : "This is us", () => { own = own === me ? "" : me; store("pair", own || null); pair(section, number); }, "", { "aria-pressed": String(own === me) })),
    h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, ["Round", "Board", "", "Against", "Contract", "Score", "%"].map((x, i) => h("th", { class: [0, 1, 5, 6].includes(i) ? "n" : "" }, x)))), h("tbody", {}, view.lines.map((l) => h("tr", {}, h("td", { class: "n" }, l.round), h("td", { class: "n" }, h("a", { href: `/results/board/${view.section}/${l.board}` }, l.board)), h("td", {}, l.direction), h("td", {}, l.opponents, " ", h("span", { class: "soft small" }, l.names)), h("td", {}, contractText(l.text)), h("td", { class: "n" }, signed(l.score)), h("td", { class: "n" }, l.percent ?? l.points ?? ""))))))));
}

async function run() {
  try {
    if (path[0] === "board") await board(path[1], path[2]);
    else if (path[0] === "pair") await pair(path[1], path[2]);
    else await start();
  } catch (error) {
    main.replaceChildren(h("section", { class: "card" }, h("h2", {}, "Not to be seen now"), h("p", {}, error instanceof ApiError ? error.what : "No connection."), h("p", {}, h("a", { href: "/results" }, "Results"))));
  }
}
run();
if (!path.length) setInterval(() => document.hidden || run(), 20000);
