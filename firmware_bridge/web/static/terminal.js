// The terminal of one table. What is on the screen follows from the plan, the log and the step in the browser's
// history; so Back goes one step back, and a reload comes back to the same step.

import { ApiError, api, button, contractText, h, loadWords, signed, store, strain, stored, t, language } from "./base.js";
import { Connection } from "./connection.js";
import { Journal, entriesOf } from "./journal.js";
import { KIND, SEATS, STRAINS, clockNow, plainText, relative, score, vulnerable } from "./record.js";
import { peopleScreen } from "./people.js";

const token = location.pathname.split("/").pop().toLowerCase();
const screen = document.getElementById("screen");
const S = { info: null, plan: null, admit: null, round: 1, records: [], entries: [], call: 0, lost: false, note: null, pendingId: null, languages: [] };
let journal, link, shown = "";

// --- state -------------------------------------------------------------------------------------------------------

const step = () => history.state || { at: "round" };
function go(next, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](next, "");
  S.note = null;
  draw(true);
}
addEventListener("popstate", () => { withdraw(); draw(true); });

async function refresh() {
  S.records = await journal.all();
  S.entries = entriesOf(S.records);
}

const planRound = (number = S.round) => S.plan?.rounds.find((r) => r.round === number);
const boardsOf = (r) => (r && r.first_board ? Array.from({ length: r.board_count }, (_, i) => r.first_board + i) : []);
const entryFor = (board, round = S.round) => S.entries.findLast((e) => e.fields.board === board && e.fields.round === round);
const elsewhere = (board, round = S.round) => S.info?.entered.some((e) => e.board === board && e.round === round);
const isDone = (board) => Boolean(entryFor(board)) || (elsewhere(board) && !S.records.some((r) => r.fields.board === board && r.fields.round === S.round));
const waiting = () => S.records.filter((r) => !r.acked).length;
const names = (pair) => (S.info?.names[pair] || []).filter(Boolean).join(" – ");
const companion = () => link.known && !link.holds && link.held;

// --- drawing -----------------------------------------------------------------------------------------------------

function say(text) { document.getElementById("say").textContent = text; }

function bar() {
  const place = S.info ? `${S.info.section}${S.info.table}` : "";
  document.getElementById("place").textContent = place ? t("table", { place }) : "";
  document.getElementById("event").textContent = S.info?.name || "";
  document.title = place ? `${place} · ${S.info.name}` : t("title");
  const sent = document.getElementById("sent");
  const count = waiting();
  let text = "", kind = "tag good";
  if (link?.refused) { text = t("no-card"); kind = "tag bad"; }
  else if (count) { text = t(count === 1 ? "waiting-one" : "waiting", { count }); kind = "tag warn"; }
  else if (!link?.online) { text = t("offline"); kind = "tag warn"; }
  else text = S.records.length ? t("received") : t("connected");
  if (sent.textContent !== text) sent.replaceChildren(h("span", { class: kind }, text));
}

function foot() {
  const label = [t("call"), t("called"), t("coming")][S.call] || t("call");
  document.getElementById("foot").replaceChildren(
    button(label, callDirector, S.call ? "danger" : "", { "aria-pressed": S.call ? "true" : null, id: "call" }),
    S.info?.settings.ranking ? button(t("ranking"), () => go({ at: "ranking" }), "plain") : "",
    button(t("more"), () => go({ at: "more" }), "plain"),
  );
}

function page(title, ...content) {
  return [h("h1", { tabindex: "-1" }, title), S.note ? h("div", { class: `note ${S.note.kind}` }, S.note.text) : "", ...content];
}

function draw(moved = false) {
  bar();
  foot();
  const at = chooseScreen();
  const content = SCREENS[at]();
  const focusable = () => [...screen.querySelectorAll("h1, button, input, select, a")];
  const focused = focusable().indexOf(document.activeElement);
  const typed = moved || at !== shown ? [] : [...screen.querySelectorAll("input[id]")].map((i) => [i.id, i.value]);
  screen.replaceChildren(...[content].flat(9).filter(Boolean));
  for (const [id, value] of typed) {
    const input = document.getElementById(id);
    if (input) input.value = value;
  }
  screen.dataset.at = at;
  if (moved || at !== shown) {
    scrollTo(0, 0);
    screen.querySelector("h1")?.focus({ preventScroll: true });
  } else if (focused >= 0) focusable()[focused]?.focus({ preventScroll: true }); // the same screen with news on it
  shown = at;
}

// Redraw on news from outside, without throwing away what somebody types or looks at.
function news() {
  const at = step().at;
  if (["people", "ranking", "more", "traveller", "pin"].includes(at) && chooseScreen() === at) { bar(); foot(); return; }
  draw();
}

function chooseScreen() {
  if (link.refused) return "nocard";
  if (companion() && !["ranking", "more"].includes(step().at)) return "companion";
  if (S.admit && S.admit.admitted === 2) return "refusedDevice";
  if (!S.plan) return "wait";
  const s = step(), r = planRound();
  if (!r) return ["ranking", "more", "traveller"].includes(s.at) ? s.at : "end";
  const entry = ["contract", "declarer", "lead", "result", "accept"];
  if (entry.includes(s.at)) {
    if (s.round !== S.round || !boardsOf(r).includes(s.board)) return "boards";
    if (isDone(s.board) && !s.replaces) return "boards";
    return s.at;
  }
  if (s.at === "stored" && entryFor(s.board, s.round)) return "stored";
  if (["people", "ranking", "more", "traveller", "pin", "entry", "next"].includes(s.at)) return s.at;
  if (!r.first_board) return "sitout";
  if (s.at === "boards" || (s.at === "stored" && s.round === S.round)) return boardsOf(r).every(isDone) ? "roundEnd" : "boards";
  if (boardsOf(r).every(isDone)) return "roundEnd";
  return boardsOf(r).some(isDone) ? "boards" : "round";
}

const acceptor = (s, r) => (s.kind === KIND.played && s.declarer % 2 ? r.ns : r.ew);
const opposite = (seat) => (seat % 2 ? t("NS") : t("EW"));

const SCREENS = {
  nocard: () => page(t("no-card"), h("p", {}, t("no-card-help")), waiting() ? h("p", { class: "note bad" }, t("still-here", { count: waiting() })) : ""),
  wait: () => page(t("wait-title"), h("p", {}, S.admit?.text || t(link.online ? "wait-admit" : "wait-net"))),
  refusedDevice: () => page(t("refused-title"), h("p", {}, S.admit.text)),

  companion: () => {
    const p = link.pending;
    if (p) {
      return page(t("accept-title"), h("p", { class: "soft" }, t("board", { board: p.board })),
        h("div", { class: "sum" }, p.text, h("small", {}, p.score)),
        h("p", {}, t("pairs-line", { ns: p.ns, ew: p.ew })),
        button(t("accept"), () => answer(p.id, true), "primary big"),
        button(t("not-right"), () => answer(p.id, false), "big"));
    }
    return page(t("companion-title"), h("p", {}, t("companion-help")),
      waiting() ? h("p", { class: "note bad" }, t("still-here", { count: waiting() })) : "",
      h("div", { class: "pushdown" }),
      link.takeOver ? h("p", { class: "note" }, t("take-over-asked")) :
        button(t("take-over"), () => { link.takeOver = true; link.pump(); draw(); }));
  },

  round: () => {
    const r = planRound(), boards = boardsOf(r);
    return page(t("round", { round: r.round }),
      h("dl", { class: "pairs" },
        h("dt", {}, t("NS")), h("dd", {}, t("pair", { pair: r.ns }), " ", h("span", { class: "soft" }, names(r.ns))),
        h("dt", {}, t("EW")), h("dd", {}, t("pair", { pair: r.ew }), " ", h("span", { class: "soft" }, names(r.ew))),
        h("dt", {}, t("boards")), h("dd", {}, boards.length > 1 ? `${boards[0]}–${boards.at(-1)}` : boards[0], r.shared ? h("div", { class: "small soft" }, t("shared")) : "")),
      h("div", { class: "pushdown keys" },
        button(t("start-round"), () => go({ at: "boards" }), "primary big", { id: "start" }),
        r.round === 1 && S.info?.settings.names ? button(t("enter-names"), () => go({ at: "people", pair: r.ns })) : ""));
  },

  boards: () => {
    const r = planRound(), boards = boardsOf(r), next = boards.find((b) => !isDone(b));
    return page(t("choose-board"),
      h("div", { class: "keys k2 boards" }, boards.map((board) => {
        const e = entryFor(board), done = isDone(board);
        const label = [t("board", { board }), h("small", {}, done ? (e ? [plainText(e.fields), e.acked ? " ✓" : " …"] : t("entered-elsewhere")) : vulWords(board))];
        return button(label, () => (done ? e && go({ at: "entry", board }) : begin(board, next)), done ? "done" : board === next ? "primary" : "", { "data-board": board });
      })),
      h("p", { class: "soft" }, t("left", { count: boards.filter((b) => !isDone(b)).length })));
  },

  entry: () => {
    const e = entryFor(step().board);
    if (!e) return SCREENS.boards();
    return page(t("board", { board: e.fields.board }), h("div", { class: "sum" }, plainText(e.fields), h("small", {}, scoreWords(e.fields))),
      h("p", {}, e.acked ? t("received") : t("waiting-this")),
      S.info?.settings.traveller && e.acked ? button(t("traveller"), () => go({ at: "traveller", board: e.fields.board })) : "",
      button(t("correct"), () => go({ at: "contract", board: e.fields.board, round: S.round, replaces: { journal: e.journal, seq: e.seq } })),
      button(t("erase"), () => erase(e), "danger"),
      h("div", { class: "pushdown" }), button(t("back"), () => history.back(), "plain"));
  },

  contract: () => {
    const s = step(), set = (more) => go({ ...s, ...more }, { replace: true });
    return page([t("board", { board: s.board }), " · ", t("contract")],
      h("div", { class: "keys k7", role: "group", "aria-label": t("level") }, [1, 2, 3, 4, 5, 6, 7].map((n) => button(n, () => set({ level: n }), "", { "aria-pressed": String(s.level === n) }))),
      h("div", { class: "keys k5", role: "group", "aria-label": t("strain") }, [...STRAINS].map((c, i) => button(strain(c), () => set({ strain: i + 1 }), "", { "aria-pressed": String(s.strain === i + 1), "aria-label": t(`suit-${c}`) }))),
      h("div", { class: "keys k3", role: "group", "aria-label": t("doubled") }, ["–", "X", "XX"].map((x, i) => button(x, () => set({ doubling: i }), "", { "aria-pressed": String((s.doubling || 0) === i), "aria-label": t(["undoubled", "doubled", "redoubled"][i]) }))),
      button(t("next"), () => go({ ...s, doubling: s.doubling || 0, at: "declarer" }), "primary big pushdown", { disabled: !(s.level && s.strain), id: "next" }),
      h("div", { class: "keys k2" }, button(t("pass-out"), () => go({ ...s, kind: KIND.passed, at: "accept" }), "", { id: "pass" }),
        S.info?.settings.pin ? button(t("not-played"), () => go({ ...s, at: "pin" })) : ""));
  },

  declarer: () => {
    const s = step(), r = planRound();
    return page([t("board", { board: s.board }), " · ", s.level, strain(STRAINS[s.strain - 1]), "X".repeat(s.doubling), " ", t("by")],
      h("div", { class: "compass" }, [...SEATS].map((c, i) => button([t(`seat-${c}`), h("small", { class: "soft" }, h("br"), t("pair", { pair: i % 2 ? r.ew : r.ns }))], () => go({ ...s, declarer: i, kind: KIND.played, at: S.info?.settings.lead ? "lead" : "result" }), c, { "data-seat": c })), h("div", { class: "C soft" }, t("declarer"))));
  },

  lead: () => {
    const s = step(), set = (more) => go({ ...s, ...more }, { replace: true });
    const ranks = "AKQJT98765432";
    const done = (rank) => go({ ...s, lead: s.leadSuit * 13 + rank, at: "result" });
    return page([t("board", { board: s.board }), " · ", t("lead-of", { seat: t(`seat-${SEATS[(s.declarer + 1) % 4]}`) })],
      h("div", { class: "keys k4", role: "group", "aria-label": t("suit") }, [..."SHDC"].map((c, i) => button(strain(c), () => set({ leadSuit: i }), "", { "aria-pressed": String(s.leadSuit === i), "aria-label": t(`suit-${c}`) }))),
      h("div", { class: "keys k5", role: "group", "aria-label": t("card") }, [...ranks].map((c, i) => button(c === "T" ? "10" : c, () => done(i), "", { disabled: s.leadSuit === undefined }))),
      h("div", { class: "pushdown" }), button(t("no-lead"), () => go({ ...s, lead: null, at: "result" }), "", { id: "nolead" }));
  },

  result: () => {
    const s = step(), need = 6 + s.level;
    const pick = (tricks) => go({ ...s, tricks, at: "accept" });
    const made = Array.from({ length: 14 - need }, (_, i) => need + i), down = Array.from({ length: need }, (_, i) => need - 1 - i);
    return page([t("board", { board: s.board }), " · ", s.level, strain(STRAINS[s.strain - 1]), "X".repeat(s.doubling), " ", SEATS[s.declarer]],
      h("h2", {}, t("made")), h("div", { class: "keys k4" }, made.map((n) => button(n === need ? "=" : `+${n - need}`, () => pick(n), n === need ? "primary" : "", { "aria-label": t("tricks", { count: n }), "data-tricks": n }))),
      h("h2", {}, t("down")), h("div", { class: "keys k4" }, down.map((n) => button(`−${need - n}`, () => pick(n), "", { "aria-label": t("tricks", { count: n }), "data-tricks": n }))));
  },

  accept: () => {
    const s = step(), r = planRound(), f = fieldsOf(s), confirm = S.info?.settings.confirm !== false;
    const other = s.kind === KIND.played ? opposite(s.declarer) : t("EW");
    propose(s, f);
    return page(confirm ? t("accept-by", { side: other }) : t("right"), h("p", { class: "soft" }, t("board", { board: s.board }), " · ", t("pairs-line", { ns: r.ns, ew: r.ew })),
      h("div", { class: "sum" }, f.kind === KIND.played ? [s.level, strain(STRAINS[s.strain - 1]), "X".repeat(s.doubling), " ", t(`seat-${SEATS[s.declarer]}`), " ", relative(f)] : t("passed-out"),
        h("small", {}, f.kind === KIND.played ? t("tricks", { count: f.tricks }) : "", f.lead !== null && f.lead !== undefined && f.kind === KIND.played ? [" · ", t("lead"), " ", strain("SHDC"[Math.floor(f.lead / 13)]), "AKQJT98765432"[f.lead % 13]] : ""),
        h("small", {}, scoreWords(f))),
      (S.notices || []).map((n) => h("div", { class: "note warn" }, n.text)),
      confirm && S.info?.settings.confirm_code ? [h("label", { for: "code" }, t("own-code", { pair: acceptor(s, r) })), h("input", { id: "code", type: "password", autocomplete: "off", maxlength: "8" })] : "",
      S.notices?.some((n) => n.answer === "director") ? button(t("call"), callDirector, "danger big") : "",
      button(S.notices?.length ? t("it-is-right") : confirm ? t("accept") : t("store"), () => accept(s, f, confirm), "primary big", { id: "accept" }),
      link.phones > 1 && confirm ? h("p", { class: "soft" }, t("other-phone")) : "",
      h("div", { class: "pushdown" }), button(t("change"), () => { withdraw(); history.back(); }, "", { id: "change" }));
  },

  stored: () => {
    const s = step(), e = entryFor(s.board, s.round), rest = boardsOf(planRound()).filter((b) => !isDone(b));
    return page(t("board", { board: s.board }), h("div", { class: "sum" }, plainText(e.fields), h("small", {}, scoreWords(e.fields))),
      h("p", { class: `note ${e.acked ? "good" : "warn"}`, id: "state" }, e.acked ? t("received") : t("waiting-this")),
      e.acked && S.info?.settings.traveller && e.fields.kind !== KIND.notPlayed ? button(t("traveller"), () => go({ at: "traveller", board: s.board })) : "",
      h("div", { class: "pushdown" }),
      rest.length ? button(t("next-board", { board: rest[0] }), () => begin(rest[0], rest[0]), "primary big", { id: "nextboard" }) : button(t("end-round"), () => go({ at: "boards" }, { replace: true }), "primary big", { id: "endround" }));
  },

  roundEnd: () => {
    const r = planRound(), last = !planRound(S.round + 1);
    return page(t("round-done", { round: r.round }),
      h("ul", {}, boardsOf(r).map((b) => h("li", {}, t("board", { board: b }), ": ", entryFor(b) ? [plainText(entryFor(b).fields), " ", h("button", { type: "button", class: "plain small", onclick: () => go({ at: "entry", board: b }) }, t("look"))] : t("entered-elsewhere")))),
      last ? "" : nextSeats(r),
      h("div", { class: "pushdown" }),
      button(last ? t("finish") : t("next-round"), nextRound, "primary big", { id: "nextround" }));
  },

  sitout: () => {
    const r = planRound(), who = [r.ns, r.ew].filter(Boolean), last = !planRound(S.round + 1);
    return page(t("round", { round: r.round }), h("p", { class: "sum" }, who.length ? t("sit-out", { pair: who.join(", ") }) : t("empty-table")), last ? "" : nextSeats(r),
      h("div", { class: "pushdown" }), button(last ? t("finish") : t("next-round"), nextRound, "primary big", { id: "nextround" }));
  },

  end: () => page(t("end-title"), h("p", {}, waiting() ? t("still-here", { count: waiting() }) : t("end-help")),
    S.info?.settings.ranking ? button(t("ranking"), () => go({ at: "ranking" }), "big") : "",
    S.info?.published ? h("a", { class: "button", href: "/results" }, t("results")) : "",
    button(t("back-round"), () => setRound(S.plan.rounds.at(-1).round), "plain")),

  traveller: () => remote(`/table/boards/${step().board}`, t("board", { board: step().board }), travellerTable),
  ranking: () => remote("/table/ranking", t("ranking"), rankingTables),

  people: () => peopleScreen({ page, token, pair: step().pair, rounds: planRound(), names: S.info.names, done: peopleDone }),

  pin: () => {
    const input = h("input", { id: "pin", type: "password", inputmode: "numeric", maxlength: "4", autocomplete: "off" });
    const check = async () => {
      try {
        const found = await api("/table/pin", { token, body: { pin: input.value } });
        if (found.ok) return accept({ ...step(), kind: KIND.notPlayed }, { ...fieldsOf({ ...step(), kind: KIND.notPlayed }), confirmed: 3 }, false);
        S.note = { kind: "bad", text: t(found.wait ? "pin-wait" : "pin-wrong") };
      } catch { S.note = { kind: "bad", text: t("needs-net") }; }
      draw();
    };
    return page(t("not-played"), h("label", { for: "pin" }, t("pin")), input, button(t("next"), check, "primary big"), button(t("back"), () => history.back(), "plain"));
  },

  more: () => {
    const choice = h("select", { id: "lang", onchange: async (e) => { store("lang", e.target.value); await loadWords(e.target.value); draw(true); } }, S.languages.map((l) => h("option", { value: l.code, selected: l.code === language }, l.name)));
    return page(t("more"), h("label", { for: "lang" }, t("language")), choice,
      S.plan ? [h("label", { for: "roundno" }, t("go-round")), h("select", { id: "roundno", onchange: (e) => setRound(Number(e.target.value)) }, S.plan.rounds.map((r) => h("option", { value: r.round, selected: r.round === S.round }, t("round", { round: r.round }))))] : "",
      S.plan && S.info?.settings.names && planRound() ? [planRound().ns, planRound().ew].filter(Boolean).map((p) => button([t("enter-names"), " ", t("pair", { pair: p })], () => go({ at: "people", pair: p }))) : "",
      h("p", { class: "soft small" }, t("device", { device: journal.device }), h("br"), t("kept", { count: waiting() })),
      h("p", { class: "soft small" }, t("warning-clear")),
      button(t("back"), () => history.back(), "big"));
  },
};

const vulWords = (board) => { const v = vulnerable(board); return t(v.ns && v.ew ? "vul-all" : v.ns ? "vul-ns" : v.ew ? "vul-ew" : "vul-none"); };
const scoreWords = (f) => (f.kind === KIND.played || f.kind === KIND.passed ? `${t("NS")} ${signed(score(f))}` : "");

function nextSeats(r) {
  const line = (pair, table, swap, side) => {
    if (!pair) return "";
    const place = `${S.info.section}${table}`;
    const text = table === 255 ? t("seat-end") : table === 0 ? t("seat-out") : table === S.info.table && !swap ? t("seat-stay") : t("seat-to", { place, side: t(swap ? (side === "NS" ? "EW" : "NS") : side) });
    return [h("dt", {}, t("pair", { pair })), h("dd", {}, text)];
  };
  return h("div", { class: "card" }, h("h2", {}, t("next-seats")), h("dl", { class: "pairs" }, line(r.ns, r.next_ns, r.next_swap & 1, "NS"), line(r.ew, r.next_ew, r.next_swap & 2, "EW")));
}

function travellerTable(view) {
  return h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, ["NS", "EW", t("contract"), t("score"), "%"].map((x, i) => h("th", { class: i === 2 ? "" : "n" }, x)))),
    h("tbody", {}, view.lines.map((l) => h("tr", { class: l.own ? "own" : "" }, h("td", { class: "n" }, l.ns), h("td", { class: "n" }, l.ew), h("td", {}, contractText(l.text)), h("td", { class: "n" }, signed(l.score)), h("td", { class: "n" }, l.percent ?? ""))))));
}

function rankingTables(view) {
  return view.groups.map((g) => h("div", {}, g.name ? h("h2", {}, g.name) : "", h("table", {}, h("tbody", {}, g.rows.map((r) => h("tr", { class: view.own.includes(r.pair) ? "own" : "" }, h("td", { class: "n" }, r.place), h("td", {}, t("pair", { pair: r.pair }), " ", h("span", { class: "soft" }, r.names)), h("td", { class: "n" }, r.value)))))));
}

function remote(path, title, make) {
  const place = h("div", {}, h("p", { class: "soft" }, t("loading")));
  api(`${path}`, { token }).then((view) => place.replaceChildren(...[make(view)].flat())).catch((error) => place.replaceChildren(h("p", { class: "note" }, error instanceof ApiError ? t("withheld") : t("needs-net"))));
  return page(title, place, h("div", { class: "pushdown" }), button(t("back"), () => history.back(), "big"));
}

// --- doing -------------------------------------------------------------------------------------------------------

function begin(board, next) {
  if (S.info?.settings.order && next !== undefined && board !== next && !confirm(t("out-of-order", { board, next }))) return;
  go({ at: "contract", board, round: S.round });
}

function fieldsOf(s) {
  const r = planRound();
  return {
    kind: s.kind, confirmed: 0, section: S.info.section_number, table: S.info.table, round: S.round, board: s.board, ns: r.ns, ew: r.ew,
    level: s.level, strain: s.strain, doubling: s.doubling || 0, declarer: s.declarer, tricks: s.tricks, lead: s.lead ?? null, stamp: clockNow(),
  };
}

// Ask the service about the entry, and show it on the other phones of the table. Both can fail; nothing waits for them.
let proposed = "";
function propose(s, f) {
  const id = JSON.stringify([s.board, s.round, f.kind, f.level, f.strain, f.doubling, f.declarer, f.tricks, f.lead, f.ns, f.ew]);
  if (proposed === id) return;
  proposed = id;
  S.notices = [];
  S.pendingId = Math.random().toString(36).slice(2, 12);
  const text = f.kind === KIND.played ? plainText(f) : t("passed-out");
  link.pump({ pending: { id: S.pendingId, round: S.round, board: s.board, ns: f.ns, ew: f.ew, text, score: scoreWords(f) } });
  const body = { round: S.round, board: s.board, ns: f.ns, ew: f.ew };
  if (f.kind === KIND.passed) body.contract = "pass";
  else Object.assign(body, { result: { is: "played", contract: `${f.level}${["C", "D", "H", "S", "NT"][f.strain - 1]}${"X".repeat(f.doubling)}`, by: SEATS[f.declarer], tricks: f.tricks, lead: f.lead }, contract: "" });
  api("/table/check", { token, body, timeout: 2500 }).then((found) => {
    const others = found.notices.filter((n) => n.code !== "out-of-order" && n.code !== "entered-before");
    if (proposed === id && others.length) { S.notices = others; if (step().at === "accept") draw(); }
  }).catch(() => {});
}

function withdraw() {
  if (!proposed) return;
  proposed = "";
  S.notices = [];
  link.pump({ pending: null });
}

let accepting = false;
async function accept(s, f, confirmed, onOtherPhone = false) {
  if (accepting) return;
  accepting = true;
  try {
    const code = document.getElementById("code");
    if (confirmed && code && !onOtherPhone) {
      // Without a connection the code can't be looked at; one touch has to do then, and the record says so.
      try {
        const found = await api("/table/code", { token, body: { pair: acceptor(s, planRound()), code: code.value }, timeout: 4000 });
        if (!found.ok) { S.note = { kind: "bad", text: t(found.wait ? "pin-wait" : "code-wrong") }; draw(); return; }
        f = { ...f, confirmed: 2 };
      } catch (error) {
        if (error instanceof ApiError) { S.note = { kind: "bad", text: t("code-wrong") }; draw(); return; }
      }
    }
    const fields = { ...f, confirmed: f.confirmed || (confirmed ? 1 : 0), stamp: clockNow() };
    const refuse = (entries) => (!s.replaces && entries.some((e) => e.fields.board === s.board && e.fields.round === s.round) ? "there" : null);
    const done = await journal.add(fields, s.replaces || null, refuse);
    await refresh();
    withdraw();
    if (done.refused) {
      go({ at: "boards" }, { replace: true });
      S.note = { kind: "warn", text: t("already", { board: s.board }) };
      draw();
      return;
    }
    say(t("waiting-this"));
    go({ at: "stored", board: s.board, round: s.round }, { replace: true });
    tabs?.postMessage("records");
    link.pump();
  } finally {
    accepting = false;
  }
}

async function erase(e) {
  if (!confirm(t("erase-sure", { board: e.fields.board }))) return;
  await journal.add({ ...e.fields, kind: KIND.erased, confirmed: 0, stamp: clockNow() }, { journal: e.journal, seq: e.seq }, null);
  await refresh();
  tabs?.postMessage("records");
  go({ at: "boards" }, { replace: true });
  link.pump();
}

function answer(id, yes) {
  link.pending = null;
  link.pump({ answer: { id, accept: yes } });
  draw();
}

function callDirector() {
  S.call = S.call ? 0 : 1;
  link.pump({ call: S.call === 1 ? 1 : 0, round: S.round });
  draw();
}

async function setRound(number) {
  S.round = number;
  await journal.put("round", number);
  link.round = Math.min(255, number);
  tabs?.postMessage("round");
  go({ at: "round" }, { replace: true });
  link.pump();
}
const nextRound = () => setRound(S.round + 1);

function peopleDone(pair, players) {
  if (players) S.info.names[pair] = players.map((p) => p.name);
  const r = planRound();
  if (players && r && pair === r.ns && r.ew && !names(r.ew)) go({ at: "people", pair: r.ew }, { replace: true });
  else go({ at: "round" }, { replace: true });
}

// --- news --------------------------------------------------------------------------------------------------------

function setClock(clock) {
  S.clock = clock ? { round: clock.round, until: Date.now() + clock.left * 1000 } : null;
}
setInterval(() => {
  const place = document.getElementById("clock"), left = S.clock ? Math.round((S.clock.until - Date.now()) / 1000) : null;
  place.hidden = left === null || left < -3600;
  if (place.hidden) return;
  const text = `${left < 0 ? "−" : ""}${Math.floor(Math.abs(left) / 60)}:${String(Math.abs(left) % 60).padStart(2, "0")}`;
  place.textContent = text;
  place.className = left < 0 ? "small tag bad" : left < 180 ? "small tag warn" : "small tag";
}, 1000);

async function onMessage(m) {
  if (m.kind === "ADMIT") {
    S.admit = m;
    if (m.admitted === 1) link.takeOver = false;
    if (m.text && m.admitted === 1) S.note = { kind: "warn", text: m.text };
  } else if (m.kind === "TABLE_PLAN") {
    S.plan = m;
    link.planVersion = m.version;
    await journal.put("plan", m);
    loadInfo();
    link.again = true;
  } else if (m.kind === "TEXT") message(m);
  else if (m.kind === "CALL_STATE_TOLD") S.call = m.state === 1 || m.state === 2 ? m.state : 0;
  else if (m.kind === "CLOCK") setClock(m.clock);
  else if (m.kind === "PENDING") link.pending = m.result;
  else if (m.kind === "ANSWER" && m.id === S.pendingId && step().at === "accept") {
    if (m.accept) await accept(step(), fieldsOf(step()), true, true);
    else S.note = { kind: "bad", text: t("other-refused") };
  }
}

function message(m) {
  say(m.text);
  if (!m.urgent) { S.note = { kind: "", text: m.text }; return; }
  const box = h("dialog", { "aria-labelledby": "message" }, h("h2", { id: "message" }, t("message")), h("p", {}, m.text), button(t("read"), () => box.close(), "primary big"));
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
}

async function onState() {
  await refresh();
  news();
}

async function loadInfo(asked = null) {
  try {
    const found = await (asked || api("/table", { token }));
    if (found instanceof Error) throw found;
    S.info = found;
    S.call = S.info.call === 3 ? 0 : S.info.call;
    setClock(found.clock);
    if (!S.plan && found.plan) S.plan = found.plan; // to look at; what is kept is the plan that the messages bring
    delete found.plan;
    await journal.put("info", S.info);
    news();
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) { link.refused = true; news(); }
  }
}

// --- start -------------------------------------------------------------------------------------------------------

const tabs = "BroadcastChannel" in self ? new BroadcastChannel(`firmware-bridge-${token}`) : null;
if (tabs) tabs.onmessage = async () => {
  S.round = (await journal.get("round")) || 1;
  link.round = S.round;
  await refresh();
  news();
};

async function main() {
  const asked = api("/table", { token }).catch((error) => error);
  const opening = Journal.open(token).catch(() => null);
  S.languages = await loadWords().catch(() => []);
  journal = await opening;
  if (!journal) {
    screen.replaceChildren(h("h1", {}, t("no-memory")), h("p", {}, t("no-memory-help")));
    return;
  }
  S.info = (await journal.get("info")) || null;
  S.plan = (await journal.get("plan")) || null;
  S.round = (await journal.get("round")) || 1;
  await refresh();
  link = new Connection(token, journal, { onMessage, onState });
  link.round = S.round;
  link.planVersion = S.plan?.version || 0;
  if (!history.state) history.replaceState({ at: "round" }, "");
  navigator.getBattery?.().then((b) => { link.battery = Math.round(b.level * 100); b.addEventListener("levelchange", () => { link.battery = Math.round(b.level * 100); }); }).catch(() => {});
  draw(true);
  await Promise.all([loadInfo(asked), link.pump()]);
  draw();
}
addEventListener("beforeunload", (event) => { if (waiting() && !link.online) event.preventDefault(); });
main();
