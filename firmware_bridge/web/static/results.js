// Public results. While play goes on there is the ranking at most; boards and scorecards come with the publication.
import { ApiError, api, button, contractText, h, keepFocus, languageChoice, loadWords, signed, stored, store, t, told, whenUntouched } from "./base.js";
import { distribution, rounds } from "./charts.js";

const main = document.getElementById("main"), path = location.pathname.replace(/^\/results\/?/, "").split("/").filter(Boolean).map(decodeURIComponent);
let own = stored("pair") || "";

const table = (label, head, rows) => h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, h("table", {}, h("thead", {}, h("tr", {}, head.map(([words, kind]) => h("th", { class: kind || "" }, words)))), h("tbody", {}, rows)));
// What is ranked: pairs, teams or players; said in the heading of the column.
const kind = (format) => t({ teams: "results.team", individual: "results.player" }[format] || "results.who");
const label = (data, r) => `${(data.sections?.length || 1) > 1 ? r.section : ""}${r.pair} ${r.names || ""}`;
const back = () => h("p", {}, h("a", { href: "/results" }, `← ${t("ranking")}`));

function ranking(data) {
  const name = (g) => (g.direction ? t(g.direction) : g.name || t("ranking"));
  return data.groups.map((g) => h("section", { class: "card" }, h("h2", {}, name(g)), table(name(g), [[t("place"), "n"], [kind(data.sections?.[0]?.format)], [t("results.value"), "n"]],
    g.rows.map((r) => h("tr", { class: own === `${r.section}${r.pair}` ? "own" : "" }, h("td", { class: "n place" }, r.place), h("td", {}, data.state === "published" ? h("a", { href: `/results/pair/${r.section}/${r.pair}` }, label(data, r)) : label(data, r)), h("td", { class: "n" }, r.value))))));
}

async function start() {
  const data = await api("/public/results");
  const lines = data.state === "closed" ? [] : await api("/public/rounds").catch(() => []);
  document.getElementById("title").textContent = data.name || t("results");
  document.title = data.name || t("results");
  const words = { closed: "", live: t("results.live", data.counts), published: t(data.final ? "results.final" : "results.provisional") };
  document.getElementById("state").replaceChildren(words[data.state] ? h("span", { class: "tag" }, words[data.state]) : "");
  if (data.state === "closed") { main.replaceChildren(h("section", { class: "card" }, h("h2", {}, t("results.none-yet")), h("p", {}, t("results.none-yet-help")))); return; }
  keepFocus(main, [...ranking(data), lines.length ? h("section", { class: "card" }, h("h2", {}, t("chart.over-rounds")), rounds(lines, { own })) : "",
    ...(data.sections || []).map((s) => h("section", { class: "card" }, h("h2", {}, data.sections.length > 1 ? t("results.boards-of", { section: s.letter }) : t("boards")), h("div", { class: "links" }, s.boards.map((b) => h("a", { class: "button", href: `/results/board/${s.letter}/${b}`, "aria-label": t("board", { board: b }) }, b)))))].filter(Boolean));
}

function hand(text) {
  return h("div", { class: "hand" }, text.split(".").map((cards, i) => h("div", {}, h("span", { class: i === 1 || i === 2 ? "red" : "" }, "♠♥♦♣"[i]), " ", cards.replaceAll("T", "10") || "–")));
}

function makes(found) {
  return h("table", { class: "small makes" }, h("caption", { class: "soft" }, t("results.double-dummy")), h("thead", {}, h("tr", {}, h("td", {}), ["NT", "♠", "♥", "♦", "♣"].map((x, i) => h("th", { class: i === 2 || i === 3 ? "n red" : "n", scope: "col" }, x)))),
    h("tbody", {}, ["N", "S", "E", "W"].map((s) => h("tr", {}, h("th", { scope: "row" }, s), ["NT", "S", "H", "D", "C"].map((x) => h("td", { class: "n" }, found[s][x]))))));
}

async function board(section, number) {
  const view = await api(`/public/boards/${encodeURIComponent(section)}/${encodeURIComponent(number)}`), numbers = view.numbers || [], at = numbers.indexOf(view.board);
  const who = (pair, names) => h("td", {}, h("a", { href: `/results/pair/${view.section}/${view.teams?.[pair] ?? pair}` }, pair), " ", h("span", { class: "soft small" }, names));
  const step = (to, words) => (to === undefined ? "" : h("a", { class: "button", href: `/results/board/${view.section}/${to}` }, words));
  document.title = t("board", { board: view.board });
  main.replaceChildren(back(), h("section", { class: "card" }, h("div", { class: "row" }, h("h2", { class: "grow" }, t("board", { board: view.board })), step(numbers[at - 1], `← ${numbers[at - 1]}`), step(numbers[at + 1], `${numbers[at + 1]} →`)), h("p", { class: "soft" }, t("dealer-vulnerable", { dealer: view.dealer, vulnerable: told("vulnerable", view.vulnerable, view.vulnerable) })),
    view.deal ? h("div", { class: "deal" }, ["N", "E", "S", "W"].map((s) => h("div", { class: s }, h("strong", {}, s), hand(view.deal[s]))), h("div", { class: "C soft" }, view.board)) : "", view.deal?.makes ? makes(view.deal.makes) : "",
    table(t("board", { board: view.board }), [["NS"], ["EW"], [t("contract")], [t("score"), "n"], [t("ns-percent"), "n"]], view.lines.map((l) => h("tr", { class: own === `${view.section}${l.ns}` || own === `${view.section}${l.ew}` ? "own" : "" }, who(l.ns, l.ns_names), who(l.ew, l.ew_names), h("td", { class: "nowrap" }, contractText(l.text)), h("td", { class: "n" }, signed(l.score)), h("td", { class: "n" }, l.percent ?? l.ns_points ?? ""))))),
    h("section", { class: "card" }, h("h2", {}, t("chart.scores")), distribution(view.lines)));
}

async function pair(section, number) {
  const [view, lines] = await Promise.all([api(`/public/pairs/${encodeURIComponent(section)}/${encodeURIComponent(number)}`), api("/public/rounds").catch(() => [])]), me = `${view.section}${view.pair}`, partner = view.format === "individual";
  const title = `${view.format === "teams" ? t("team", { team: view.pair }) : view.format === "individual" ? t("player", { number: view.pair }) : t("pair", { pair: view.pair })} ${view.names}`;
  document.title = title;
  main.replaceChildren(back(), h("section", { class: "card" }, h("div", { class: "row" }, h("h2", { class: "grow" }, title), button(own === me ? `${t("results.this-is-us")} ✓` : t("results.this-is-us"), () => { own = own === me ? "" : me; store("pair", own || null); pair(section, number); }, "", { "aria-pressed": String(own === me) })),
    table(title, [[t("round-label"), "n wide-only"], [t("results.board"), "n"], [t("results.side"), "wide-only"], ...(partner ? [[t("results.partner"), "n"]] : []), [t("results.against")], [t("contract")], [t("score"), "n"], ["%", "n"]], view.lines.map((l) => h("tr", {}, h("td", { class: "n wide-only" }, l.round), h("td", { class: "n" }, h("a", { href: `/results/board/${view.section}/${l.board}` }, l.board)), h("td", { class: "wide-only" }, l.direction), partner ? h("td", { class: "n" }, l.partner ?? "") : "", h("td", {}, (l.against || [l.opponents]).join(" + "), " ", h("span", { class: "soft small" }, l.names)), h("td", { class: "nowrap" }, contractText(l.text)), h("td", { class: "n" }, signed(l.score)), h("td", { class: "n" }, l.percent ?? l.points ?? ""))))),
    view.penalties?.length ? h("section", { class: "card" }, h("h2", {}, t("results.penalties")), h("ul", {}, view.penalties.map((p) => h("li", {}, `${p.amount} ${p.reason}`)))) : "",
    lines.length ? h("section", { class: "card" }, h("h2", {}, t("chart.over-rounds")), rounds(lines, { own: me })) : "");
}

// news: read again by itself. A ranking on the screen of the bar stays when the network is away, and says so.
async function run(news = false) {
  try {
    if (path[0] === "board") await board(path[1], path[2]);
    else if (path[0] === "pair") await pair(path[1], path[2]);
    else await start();
  } catch (error) {
    if (news && !(error instanceof ApiError)) { document.getElementById("state").replaceChildren(h("span", { class: "tag bad" }, t("offline"))); return; }
    main.replaceChildren(h("section", { class: "card" }, h("h2", {}, t("results.not-now")), h("p", {}, error instanceof ApiError ? error.what : t("results.no-connection")), h("p", {}, h("a", { href: "/results" }, t("results")))));
  }
}
document.getElementById("language").replaceChildren(languageChoice(() => run()));
loadWords().then(() => run());
if (!path.length) setInterval(() => document.hidden || whenUntouched("results", () => run(true)), 20000);
