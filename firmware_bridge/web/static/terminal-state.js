// What the terminal knows, and how it draws: what is on the screen follows from the plan, the log and the step in the
// browser's history; so Back goes one step back, and a reload comes back to the same step.
import { button, h, t, whenUntouched } from "./base.js";
import { clockNow, KIND, relative, SEATS, TABLE } from "./record.js";
import { entriesOf } from "./journal.js";

export const token = location.pathname.split("/").pop().toLowerCase();
export const screenPlace = document.getElementById("screen");
export const S = { info: null, plan: null, admit: null, round: 1, records: [], entries: [], call: 0, callAt: 0, note: null, pendingId: null, namesDue: {} };
// The log and the line, once they are there; until then a line that does nothing.
const NO_LINE = { refused: false, over: false, known: false, holds: false, held: false, online: true, phones: 1, pending: null, takeOver: false, pump() {} };
// ready: resolved when both are there; what writes waits for it.
let begun;
export const ready = new Promise((done) => { begun = done; });
export const isReady = () => begun();
export const T = { journal: null, link: NO_LINE, shown: "", askInfo() {}, tabs: "BroadcastChannel" in self ? new BroadcastChannel(`firmware-bridge-${token}`) : null };
// Screens by name; each module adds its own.
export const SCREENS = {};

export const step = () => history.state || { at: "round" };
// The step as it is now: after a wait still() says whether the person is still there, or has gone back or on meanwhile.
export function here() {
  const was = JSON.stringify(step());
  return { step: step(), still: () => JSON.stringify(step()) === was };
}
// One act of a name at a time: a second touch while the first is under way does nothing.
const acting = new Set();
export async function once(name, work) {
  if (acting.has(name)) return;
  acting.add(name);
  try { await work(); } finally { acting.delete(name); }
}
export function go(next, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](next, "");
  S.note = null;
  draw(true);
}

export async function refresh() {
  take(await T.journal.load(["people-due"]));
}
export function take(loaded) {
  S.records = loaded.records;
  S.entries = entriesOf(S.records);
  S.namesDue = loaded["people-due"] || {};
}

// The round as planned; where a table has said that it stays as it sits, the other way round.
export function planRound(number = S.round) {
  const r = S.plan?.rounds.find((one) => one.round === number);
  if (!r || !r.ns || recorded(TABLE.positions, 0, number)?.data[0] !== 3) return r;
  return { ...r, ns: r.ew, ew: r.ns, next_ns: r.next_ew, next_ew: r.next_ns, next_swap: ((r.next_swap & 1) << 1) | (r.next_swap >> 1) };
}
// What was recorded here beside results, the newest of its kind.
export const recorded = (what, board, round = S.round) => S.records.findLast((r) => r.what === what && r.fields.board === board && r.fields.round === round);
export async function keepRecord(what, board, data, by = 1, turned = false) {
  await ready;
  const r = planRound(), [ns, ew] = turned ? [r.ew, r.ns] : [r.ns, r.ew];
  await T.journal.addTable({ section: S.info.section_number, table: S.info.table, round: S.round, board, ns, ew, what, by }, data);
  await refresh();
  T.tabs?.postMessage("records");
  T.link.pump();
}
export const boardsOf = (r) => (r && r.first_board ? r.boards?.length ? r.boards : Array.from({ length: r.board_count }, (_, i) => r.first_board + i) : []);
export const entryFor = (board, round = S.round) => S.entries.findLast((e) => e.fields.board === board && e.fields.round === round);
export const isDone = (board) => Boolean(entryFor(board)) || (elsewhere(board) && !S.records.some((r) => !r.what && r.fields.board === board && r.fields.round === S.round));
const elsewhere = (board, round = S.round) => S.info?.entered.some((e) => e.board === board && e.round === round);
export const waiting = () => S.records.filter((r) => !r.acked).length;
export const lastRound = () => !planRound(S.round + 1);
const companion = () => T.link.known && !T.link.holds && T.link.held;

// --- who sits here: pairs, pairs of a team, or four players of an individual -------------------------------------

export const names = (pair) => (S.info?.names[pair] || []).filter(Boolean).join(" – ");
export const seats = (r) => S.info?.seats?.[r.round] || null;
// The contestants of a side as numbers: one pair, or the two players of an individual.
export const sideOf = (r, side) => (seats(r) ? [0, 2].map((i) => seats(r)[i + (side === "EW" ? 1 : 0)]) : [side === "NS" ? r.ns : r.ew].filter(Boolean));
export const called = (number) => (S.info?.format === "individual" ? t("player", { number }) : S.info?.teams?.[number] ? `${t("team", { team: S.info.teams[number] })} · ${t("pair", { pair: number })}` : t("pair", { pair: number }));
export const againstWords = (r) => t("pairs-line", { ns: sideOf(r, "NS").join("+"), ew: sideOf(r, "EW").join("+") });

export function fieldsOf(s) {
  const r = planRound();
  return {
    kind: s.kind, confirmed: 0, section: S.info.section_number, table: S.info.table, round: S.round, board: s.board, ns: r.ns, ew: r.ew,
    level: s.level, strain: s.strain, doubling: s.doubling || 0, declarer: s.declarer, tricks: s.tricks, lead: s.lead ?? null, stamp: clockNow(),
  };
}
export function plainText(f) {
  if (f.kind === KIND.passed) return t("pass");
  if (f.kind === KIND.notPlayed) return t("not-played");
  return `${f.level}${"♣♦♥♠"[f.strain - 1] || "NT"}${"X".repeat(f.doubling)} ${SEATS[f.declarer]} ${relative(f)}`;
}
export const acceptor = (s, r) => (s.kind === KIND.played && s.declarer % 2 ? r.ns : r.ew);
export const seatName = (i) => t(`seat-${SEATS[i]}`);

// What the phone can't keep must not look as if it were kept: its log is full, or the browser has closed it.
export function notKept() {
  S.note = { kind: "bad", text: t("not-kept") };
  say(t("not-kept"));
  draw();
}

// --- drawing -----------------------------------------------------------------------------------------------------

export function say(text) { document.getElementById("say").textContent = text; }

function bar() {
  const place = S.info ? `${S.info.section}${S.info.table}` : "";
  document.getElementById("place").textContent = place ? t("table", { place }) : "";
  document.getElementById("event").textContent = S.info?.name || "";
  document.title = place ? `${place} · ${S.info.name}` : t("title");
  const sent = document.getElementById("sent"), count = waiting();
  let text = "", kind = "tag good";
  if (T.link?.refused) { text = t("no-card"); kind = "tag bad"; }
  else if (count) { text = t(count === 1 ? "waiting-one" : "waiting", { count }); kind = "tag warn"; }
  else if (Object.keys(S.namesDue).length) { text = t("waiting-other"); kind = "tag warn"; }
  else if (!T.link?.online) { text = t("offline"); kind = "tag warn"; }
  else text = S.records.length ? t("received") : t("connected");
  if (sent.textContent !== text) sent.replaceChildren(h("span", { class: kind }, text));
}

const footer = [];
export const addFoot = (make) => footer.push(make);

function foot() {
  const place = document.getElementById("foot"), focused = place.contains(document.activeElement) ? [...place.children].indexOf(document.activeElement) : -1;
  place.replaceChildren(...(T.link.over ? [] : footer).map((make) => make()).filter(Boolean));
  if (focused >= 0) place.children[focused]?.focus({ preventScroll: true });
}

export function page(title, ...content) {
  return [h("h1", { tabindex: "-1" }, title), S.note ? h("div", { class: `note ${S.note.kind}`, role: "status" }, S.note.text) : "", ...content];
}
export const backButton = (kind = "big") => [h("div", { class: "pushdown" }), button(t("back"), () => history.back(), kind)];

// The second touch of a double tap is meant for the screen that was there at the first: it must not accept, or go on, on
// the one that has come in its place.
let movedAt = 0;
document.addEventListener("click", (event) => {
  if (event.detail > 1 && performance.now() - movedAt < 700) { event.stopPropagation(); event.preventDefault(); }
}, true);

export function draw(moved = false) {
  bar();
  foot();
  const at = chooseScreen();
  const content = SCREENS[at]();
  const focusable = () => [...screenPlace.querySelectorAll("h1, button, input, select, a")];
  const focused = focusable().indexOf(document.activeElement);
  const typed = moved || at !== T.shown ? [] : [...screenPlace.querySelectorAll("input[id]")].map((i) => [i.id, i.value]);
  screenPlace.replaceChildren(...[content].flat(9).filter(Boolean));
  for (const [id, value] of typed) {
    const input = document.getElementById(id);
    if (input) input.value = value;
  }
  screenPlace.dataset.at = at;
  if (moved || at !== T.shown) {
    scrollTo(0, 0);
    screenPlace.querySelector("h1")?.focus({ preventScroll: true });
  } else if (focused >= 0) focusable()[focused]?.focus({ preventScroll: true }); // the same screen with news on it
  if (at !== T.shown) movedAt = performance.now();
  T.shown = at;
}

// Screens that only show, or on which somebody types: news from outside does not redraw them.
const KEPT = new Set(["people", "ranking", "more", "traveller", "pin"]);
export const keepOnNews = (...screens) => screens.forEach((one) => KEPT.add(one));

// Redraw on news from outside, without throwing away what somebody types or looks at.
export const news = () => whenUntouched("screen", drawNews);
function drawNews() {
  const at = step().at;
  if (KEPT.has(at) && chooseScreen() === at) { bar(); foot(); return; }
  draw();
}

const ENTRY = new Set(["contract", "declarer", "lead", "result", "accept"]);
const ANYTIME = new Set(["people", "ranking", "more", "traveller", "pin", "entry", "next"]);
// Screens of other modules that may be shown at any time; each checks for itself that it has what it needs.
export const anytime = (...screens) => screens.forEach((one) => ANYTIME.add(one));

function chooseScreen() {
  if (T.link.refused) return "nocard";
  if (T.link.over) return "over";
  if (companion() && !["ranking", "more"].includes(step().at)) return "companion";
  if (S.admit && S.admit.admitted === 2) return "refusedDevice";
  if (!S.plan) return "wait";
  const s = step(), r = planRound();
  if (!r) return ["ranking", "more", "traveller"].includes(s.at) ? s.at : "end";
  if (ENTRY.has(s.at)) {
    if (s.round !== S.round || !boardsOf(r).includes(s.board)) return "boards";
    if (isDone(s.board) && !s.replaces) return "boards";
    return s.at;
  }
  if (s.at === "stored" && entryFor(s.board, s.round)) return "stored";
  if (ANYTIME.has(s.at)) return s.at;
  if (!r.first_board) return "sitout";
  if (s.at === "boards" || (s.at === "stored" && s.round === S.round)) return boardsOf(r).every(isDone) ? "roundEnd" : "boards";
  if (boardsOf(r).every(isDone)) return "roundEnd";
  return boardsOf(r).some(isDone) ? "boards" : "round";
}
