// What a table may look at, and its settings: travellers, ranking, names, language; and the words at the foot.
import { ApiError, api, button, contractText, h, languageChoice, signed, t } from "./base.js";
import { flushNames, keepNames, peopleScreen } from "./people.js";
import { callDirector } from "./terminal-entry.js";
import { setRound } from "./terminal-round.js";
import { addFoot, anytime, backButton, called, draw, go, here, keepOnNews, names, notKept, page, planRound, ready, refresh, S, SCREENS, sideOf, step, T, token, waiting } from "./terminal-state.js";

addFoot(() => button([t("call"), t("called"), t("coming")][S.call] || t("call"), (event) => event.detail > 1 || callDirector(), S.call ? "danger" : "", { "aria-pressed": S.call ? "true" : null, id: "call" }));
addFoot(() => (S.info?.settings.ranking ? button(t("ranking"), () => go({ at: "ranking" }), "plain") : ""));
addFoot(() => button(t("more"), () => go({ at: "more" }), "plain", { id: "more" }));

const scrolled = (label, table) => h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);

function travellerTable(view) {
  return scrolled(t("traveller"), h("table", {}, h("thead", {}, h("tr", {}, ["NS", "EW", t("contract"), t("score"), "%"].map((x, i) => h("th", { class: i === 2 ? "" : "n" }, x)))),
    h("tbody", {}, view.lines.map((l) => h("tr", { class: l.own ? "own" : "" }, h("td", { class: "n" }, l.ns), h("td", { class: "n" }, l.ew), h("td", {}, contractText(l.text)), h("td", { class: "n" }, signed(l.score)), h("td", { class: "n" }, l.percent ?? ""))))));
}

// Who is ranked: a pair, a team, a player.
const ranked = (number) => t({ teams: "team", individual: "player" }[S.info?.format] || "pair", { team: number, number, pair: number });

function rankingTables(view) {
  const own = new Set(view.own.map((one) => S.info?.teams?.[one] ?? one));
  const title = (g) => (g.direction ? t(g.direction) : g.name);
  return view.groups.map((g) => h("div", {}, title(g) ? h("h2", {}, title(g)) : "", scrolled(title(g) || t("ranking"), h("table", {}, h("thead", {}, h("tr", {}, h("th", { class: "n" }, t("place")), h("th", {}, t("names")), h("th", { class: "n" }, t("results")))), h("tbody", {}, g.rows.map((r) => h("tr", { class: own.has(r.pair) ? "own" : "" }, h("td", { class: "n" }, r.place), h("td", {}, ranked(r.pair), " ", h("span", { class: "soft" }, r.names)), h("td", { class: "n" }, r.value))))))));
}

export function remote(path, title, make) {
  const place = h("div", {}, h("p", { class: "soft" }, t("loading")));
  api(`${path}`, { token }).then((view) => place.replaceChildren(...[make(view)].flat(9).filter(Boolean))).catch((error) => place.replaceChildren(h("p", { class: "note" }, error instanceof ApiError ? t("withheld") : t("needs-net"))));
  return page(title, place, backButton());
}

// Own boards so far, as far as everybody here has played them.
function recapTable(view) {
  const head = [t("boards"), t("pairs-against"), t("contract"), t("score"), "%"];
  return view.lines.length ? scrolled(t("own-boards"), h("table", {}, h("thead", {}, h("tr", {}, head.map((x, i) => h("th", { class: i === 2 ? "" : "n" }, x)))), h("tbody", {}, view.lines.map((l) => h("tr", {}, h("td", { class: "n" }, l.board), h("td", { class: "n" }, (l.against || [l.opponents]).join("+")), h("td", {}, contractText(l.text)), h("td", { class: "n" }, signed(l.score)), h("td", { class: "n" }, l.percent ?? l.points ?? "")))))) : h("p", { class: "soft" }, t("own-boards-none"));
}
SCREENS.recap = () => remote(`/table/recap/${step().pair}`, [t("own-boards"), " · ", called(step().pair)], recapTable);
anytime("recap");
keepOnNews("recap");

SCREENS.traveller = () => remote(`/table/boards/${step().board}`, t("board", { board: step().board }), travellerTable);
SCREENS.ranking = () => remote("/table/ranking", t("ranking"), rankingTables);
SCREENS.people = () => peopleScreen({ page, token, pair: step().pair, title: called(step().pair), names: S.info.names, single: S.info.format === "individual", done: peopleDone });

async function peopleDone(pair, players) {
  await ready;
  const { still } = here();
  if (players) {
    try { await keepNames(T.journal, pair, players); } catch { notKept(); return; }
    S.info.names[pair] = players.map((p) => p.name);
    await refresh();
    flushNames(T.journal, token).then(async () => { await refresh(); draw(); });
  }
  if (!still()) return;
  const r = planRound(), who = r ? [...sideOf(r, "NS"), ...sideOf(r, "EW")] : [], next = who[who.indexOf(pair) + 1];
  if (players && next && !names(next)) go({ at: "people", pair: next }, { replace: true });
  else go({ at: "round" }, { replace: true });
}

SCREENS.more = () => {
  const r = planRound(), who = r ? [...sideOf(r, "NS"), ...sideOf(r, "EW")] : [];
  return page(t("more"), h("label", { for: "lang" }, t("language")), languageChoice(() => draw(true)),
    S.plan ? [h("label", { for: "roundno" }, t("go-round")), h("select", { id: "roundno", onchange: (e) => setRound(Number(e.target.value)) }, S.plan.rounds.map((one) => h("option", { value: one.round, selected: one.round === S.round }, t("round", { round: one.round }))))] : "",
    S.plan && S.info?.settings.traveller ? who.map((p) => button([t("own-boards"), " ", called(p)], () => go({ at: "recap", pair: p }), "", { "data-recap": p })) : "",
    S.plan && S.info?.settings.names ? who.map((p) => button([t("enter-names"), " ", called(p)], () => go({ at: "people", pair: p }))) : "",
    h("p", { class: "soft small" }, t("device", { device: T.journal?.device || "" }), h("br"), t("kept", { count: waiting() })),
    h("p", { class: "soft small" }, t("warning-clear")), backButton());
};
