// The director's desk: one state from the service, kept fresh by its stream, and one view of it at a time.
//
// Other modules add to the desk without changing it. Each has a <script type="module"> line in desk.html, imports what
// it needs from here, and calls one of these; labels are keys of the message files (words: t("desk.…")).
//   addView(name, { label, role, make })            a tab of its own. make() gives elements, or a promise of them.
//   addCard(view, { role, make })                   a card at the end of a view: now, boards, ranking, terminals, plan,
//                                                   end, setup. make() as above; "" shows nothing.
//   addPlayForm(name, { label, role, when, make })  a form in the panel of one result. when(view) false: not offered.
//                                                   make(play, view, anew) gives the element; anew() shows the result
//                                                   again, unless another panel is open by then.
//   addPlan(name, { label, fields, event })         a change of plan: fields(section) gives elements with ids, event()
//                                                   its values for POST /plan/preview and /plan/change.
import { ApiError, api, button, contractText, h, keepFocus, languageChoice, listen, loadWords, newestOnly, said, signed, store, stored, t, told, whenUntouched } from "./base.js";
import { progress } from "./charts.js";
import { boardsView, openPlay } from "./desk-board.js";
import { endView } from "./desk-end.js";
import { planView } from "./desk-plan.js";
import { rankingView, terminalsView } from "./desk-room.js";
import { setupView } from "./desk-setup.js";

export const D = { token: null, data: null, view: "now", up: false, section: null, board: null, actor: stored("actor") || "" };
const main = document.getElementById("main"), panel = document.getElementById("panel");
const drawing = newestOnly(), reading = newestOnly();
let source = null, timer = null, due = 0, reloading = null;

export const get = (path) => api(path, { token: D.token });
// An act whose answer got lost may have been done: asked for again it has the same key, and is done once.
const unanswered = new Map();
export async function post(path, body) {
  if (path.endsWith("/preview")) return api(path, { token: D.token, body });
  const act = JSON.stringify([path, body]), key = unanswered.get(act) || Math.random().toString(36).slice(2);
  unanswered.set(act, key);
  try {
    const answer = await api(path, { token: D.token, body, key });
    unanswered.delete(act);
    return answer;
  } catch (error) {
    if (error instanceof ApiError) unanswered.delete(act);
    throw error;
  }
}
export const letters = () => D.data.event.sections.map((s) => s.letter);
export const rank = { viewer: 0, assistant: 1, director: 2 };
export const may = (role) => rank[D.data.role] >= rank[role];

export async function act(name, body, words) {
  const done = await post(`/actions/${name}`, { actor: D.actor || D.data.role, ...body });
  say(words || t("desk.done"));
  reload();
  return done;
}

export function say(text) { document.getElementById("say").textContent = ""; setTimeout(() => { document.getElementById("say").textContent = text; }, 30); }

export function problem(error) {
  return h("p", { class: "note bad", role: "alert" }, error instanceof ApiError ? error.message : t("no-answer"));
}

// A button whose errors are told beside it.
export function doing(label, work, kind = "", more = {}) {
  const place = h("span", {});
  const one = button(label, async () => {
    one.disabled = true;
    place.replaceChildren();
    try { await work(); } catch (error) { place.replaceChildren(problem(error)); } finally { one.disabled = false; }
  }, kind, more);
  return [one, place];
}

// A preview of a form: what ask() answers is shown in a place below it, unless something was changed meanwhile; what is
// changed later clears it. Gives the place, the work of the button, and seen(): the answer that is shown, or null.
export function previewOf(box, ask, show, changed = () => {}) {
  const place = h("div", { "aria-live": "polite" });
  let changes = 0, shown = null;
  box.addEventListener("input", () => { changes += 1; shown = null; place.replaceChildren(); changed(); });
  const look = async () => {
    const at = changes, found = await ask();
    if (at !== changes) return;
    shown = found;
    place.replaceChildren(...[show(found)].flat(9).filter(Boolean));
  };
  return { place, look, seen: () => shown };
}

export const field = (id, label, element, kind = null) => h("div", { class: kind }, h("label", { for: id }, label), Object.assign(element, { id }));
export const value = (id) => document.getElementById(id)?.value ?? "";
export const number = (id, more = {}) => h("input", { type: "number", min: 1, id, ...more });

// Gives a question that is answered true as long as nothing else is shown in the panel and it is not closed; whoever
// waits for an answer of the service asks it before he shows what came.
const shown = newestOnly();
panel.addEventListener("close", () => panel.open || shown());
export function openPanel(title, ...content) {
  panel.replaceChildren(h("div", { class: "row" }, h("h2", { id: "paneltitle", class: "grow", tabindex: "-1" }, title), button(t("desk.close"), () => panel.close(), "plain", { id: "closepanel" })), ...content.flat(9).filter(Boolean));
  if (!panel.open) panel.showModal();
  panel.querySelector("h2").focus();
  return shown();
}
export const closePanel = () => panel.close();

// --- what there is to look at ------------------------------------------------------------------------------------

const VIEWS = {
  now: { label: "desk.view-now", make: nowView }, boards: { label: "desk.view-boards", make: boardsView },
  ranking: { label: "desk.view-ranking", make: rankingView }, terminals: { label: "desk.view-terminals", make: terminalsView },
  plan: { label: "desk.view-plan", make: planView }, end: { label: "desk.view-end", make: endView },
  setup: { label: "desk.view-setup", role: "director", make: setupView },
};
const CARDS = {};
export const playForms = {};
export const plans = {};

export function addView(name, view) { VIEWS[name] = view; draw(); }
export function addCard(view, card) { (CARDS[view] ||= []).push(card); if (D.view === view) draw(); }
export function addPlayForm(name, form) { playForms[name] = form; }
export function addPlan(name, plan) { plans[name] = plan; }

export function show(view) {
  D.view = view;
  history.replaceState(null, "", `#${view}`);
  const drawn = draw();
  return drawn.then(() => main.querySelector("h2")?.focus?.());
}

// news: nobody asked for it here, so that what is typed stays and no button moves under a finger.
async function draw(news = false) {
  if (!D.data) return;
  const event = D.data.event, mine = drawing();
  document.getElementById("title").textContent = event.active ? event.name : t("desk.title");
  document.title = event.active ? `${event.name} · ${t("desk.title")}` : t("desk.title");
  document.getElementById("role").replaceChildren(h("span", { class: "tag" }, t(`desk.role-${D.data.role}`)));
  if (!event.active || !VIEWS[D.view]) D.view = event.active ? "now" : "setup";
  const attention = D.data.alerts.length, open = [...Object.entries(VIEWS).filter(([name]) => name !== "setup"), ["setup", VIEWS.setup]].filter(([name, v]) => (event.active || name === "setup") && (!v.role || may(v.role)));
  const put = (name, place, content) => { const work = () => mine() && keepFocus(place, content, { typed: news }); if (news) whenUntouched(name, work); else work(); };
  put("nav", document.getElementById("nav"), open.map(([name, v]) => button(name === "now" && attention ? `${t(v.label)} (${attention})` : t(v.label), () => show(name), "", { "data-view": name, "aria-current": D.view === name ? "page" : null })));
  line();
  try {
    const view = D.view, cards = (CARDS[view] || []).filter((c) => (event.active || view === "setup") && (!c.role || may(c.role)));
    const made = [await VIEWS[view].make(), ...(await Promise.all(cards.map((c) => c.make())))];
    put("main", main, made.flat(9).filter(Boolean));
  } catch (error) {
    // News that could not be fetched leaves what is shown; its line says that it is old.
    if (mine() && !news) main.replaceChildren(problem(error));
  }
}

function line() {
  document.getElementById("line").replaceChildren(h("span", { class: D.up ? "tag good" : "tag bad" }, t(D.up ? "live" : "offline")));
}

setInterval(() => {
  const c = D.data?.event.clock, place = document.getElementById("clock");
  if (!c?.until) { place.textContent = ""; place.hidden = true; return; }
  const left = Math.round((c.until - Date.now()) / 1000), abs = Math.abs(left);
  place.hidden = left < -7200;
  place.textContent = `${t("round", { round: c.round })}: ${left < 0 ? "−" : ""}${Math.floor(abs / 60)}:${String(abs % 60).padStart(2, "0")}`;
  place.className = left < 0 ? "tag bad" : left < 180 ? "tag warn" : "tag";
}, 1000);

// --- now ---------------------------------------------------------------------------------------------------------

function nowView() {
  const { grid, alerts, event } = D.data;
  const rounds = [...new Set(grid.cells.map((c) => c.round))].sort((a, b) => a - b);
  const bars = rounds.map((round) => {
    const of = grid.cells.filter((c) => c.round === round);
    return { round, expected: of.length, stored: of.filter((c) => c.state !== "missing").length };
  });
  return h("div", { class: "two" },
    h("div", {},
      h("section", { class: "card", "aria-labelledby": "alerts" }, h("h2", { id: "alerts", tabindex: "-1" }, alerts.length ? t("desk.needs-you", { count: alerts.length }) : t("desk.nothing-needs-you")),
        alerts.length ? h("ul", { class: "alerts" }, alerts.slice(0, 30).map(alertLine)) : "", alerts.length > 30 ? h("p", { class: "soft" }, t("desk.more-alerts", { count: alerts.length - 30 })) : ""),
      event.sections.map((s) => s.movement && h("section", { class: "card" }, h("h2", {}, event.sections.length > 1 ? t("desk.section", { section: s.letter }) : t("desk.tables")), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("desk.tables") }, gridTable(s, rounds)), legend()))),
    h("div", {},
      h("section", { class: "card" }, h("h2", {}, t("desk.results-of", { stored: grid.counts.stored, expected: grid.counts.expected })), progress(bars)),
      grid.others.length ? h("section", { class: "card" }, h("h2", {}, t("desk.unplanned")), h("ul", {}, grid.others.map((o) => h("li", {}, button(`${t("board", { board: o.board })}: ${o.ns} – ${o.ew} ${o.text}`, () => openPlay(o), "plain"))))) : "",
      h("section", { class: "card small" }, movementLines(event.sections), event.settings.playing_director.length ? h("p", {}, t("desk.playing-director", { pairs: event.settings.playing_director.join(", ") })) : "")));
}

// Each movement once, with the letters of the sections that play it.
function movementLines(sections) {
  const played = new Map();
  for (const s of sections) played.set(s.movement || "", [...(played.get(s.movement || "") || []), s.letter]);
  return [...played].map(([movement, of]) => h("p", {}, sections.length > 1 ? h("strong", {}, `${of.join(" ")}: `) : "", movement ? said(movement) : t("desk.no-movement")));
}

const KINDS = { look: "desk.cell-look", full: "desk.cell-complete", late: "desk.cell-late", some: "desk.cell-under-way", none: "desk.cell-not-begun" };
const legend = () => h("p", { class: "legend small soft", "aria-hidden": "true" }, Object.entries(KINDS).map(([kind, key]) => h("span", {}, h("i", { class: kind }), t(key))));

function alertLine(a) {
  const kind = a.rank <= 2 ? "urgent" : a.rank >= 5 ? "calm" : "";
  const tools = [];
  if (a.play) tools.push(button(t("desk.look"), () => openPlay(a.play)));
  if (a.kind === "call" && a.code !== "coming") tools.push(...doing(t("desk.coming"), () => act("answer-call", { section: a.section, table: a.table, state: 2 }), "primary"));
  if (a.kind === "call") tools.push(...doing(t("desk.call-done"), () => act("answer-call", { section: a.section, table: a.table, state: 3 })));
  if (a.alarm) tools.push(...doing(t("desk.seen"), () => act("seen", { kind: a.alarm[0], subject: a.alarm[1] })));
  if (a.kind === "check") tools.push(...doing(t("desk.seen"), () => act("seen", { number: a.number })));
  if (a.kind === "computer-clock") tools.push(...clockTools());
  if (a.kind === "admission") tools.push(...doing(t(a.held ? "desk.let-take-over" : "desk.admit"), () => act(a.held ? "replace" : "admit", { device: a.device, section: a.section, table: a.table })));
  const causes = (a.causes || []).map((code) => t(`cause.${code}`)).join("; ");
  return h("li", { class: kind, "data-alert": a.kind }, h("span", {}, told("alert", a.code || a.kind, a.text, { ...a.values, causes })), may("assistant") ? tools : a.play ? tools : "");
}

/** What time it is, by the director's watch; or the computer is right after all. */
function clockTools() {
  const now = h("input", { type: "datetime-local", id: "clocknow", "aria-label": t("desk.clock-now") });
  const tell = () => now.value ? act("computer-clock", { at: new Date(now.value).toISOString() }) : now.focus();
  return [now, ...doing(t("desk.clock-set"), tell), ...doing(t("desk.clock-right"), () => act("computer-clock", {}))];
}

function gridTable(section, rounds) {
  const cells = D.data.grid.cells.filter((c) => c.section === section.letter), tables = D.data.grid.tables.filter((x) => x.section === section.letter);
  const tag = (kind, key) => h("span", { class: `tag ${kind}` }, t(key));
  return h("table", { class: "grid" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("desk.table")), rounds.map((r) => h("th", { scope: "col" }, h("abbr", { title: t("round", { round: r }) }, r))))),
    h("tbody", {}, tables.map((x) => h("tr", {}, h("th", { scope: "row" }, `${x.section}${x.table} `, x.terminal ? (x.present ? "" : tag("warn", "desk.silent")) : h("span", { class: "small soft" }, t("desk.no-terminal")), x.locked ? tag("bad", "desk.locked") : "", x.call ? tag(x.call === 1 ? "bad" : "warn", x.call === 1 ? "desk.calls" : "desk.is-coming") : ""),
      rounds.map((r) => {
        const of = cells.filter((c) => c.table === x.table && c.round === r);
        if (!of.length) return h("td", {}, h("span", { class: "soft" }, "–"));
        const got = of.filter((c) => c.state !== "missing").length, look = of.some((c) => c.state === "attention");
        const kind = look ? "look" : got === of.length ? "full" : x.behind && r === x.round ? "late" : got ? "some" : "none";
        return h("td", {}, button([`${got}/${of.length}`, look ? " !" : ""], () => openRound(x, r), kind, { "aria-label": t("desk.cell", { table: `${x.section}${x.table}`, round: r, got, all: of.length, state: t(KINDS[kind]) }) }));
      })))));
}

function openRound(table, round) {
  const of = D.data.grid.cells.filter((c) => c.section === table.section && c.table === table.table && c.round === round), place = `${table.section}${table.table}`;
  const mine = openPanel(t("desk.table-round", { place, round }),
    h("p", {}, t("pairs-line", { ns: of[0].ns, ew: of[0].ew })),
    h("div", { class: "scroll" }, h("table", {}, h("tbody", {}, of.map((c) => h("tr", {}, h("td", {}, t("board", { board: c.board })), h("td", {}, c.hidden ? h("span", { class: "soft" }, t("desk.veiled")) : contractText(c.text)), h("td", { class: "n" }, signed(c.score)), h("td", {}, stateTag(c.state)), h("td", {}, button(t("desk.open"), () => openPlay(c), "", { "aria-label": `${t("desk.open")}: ${t("board", { board: c.board })}` }))))))),
    may("assistant") ? h("div", { class: "row" }, doing(t(table.locked ? "desk.unlock" : "desk.lock"), async () => { await act("lock", { section: table.section, table: table.table, locked: !table.locked }); if (mine()) closePanel(); }),
      button(t("desk.message-table"), () => messageForm(table))) : "");
}

export function stateTag(state) {
  const kind = { attention: "bad", missing: "", entered: "warn", confirmed: "good", amended: "", final: "good" }[state] ?? "";
  return h("span", { class: `tag ${kind}` }, told("state", state, state));
}

export function messageForm(table) {
  const text = h("textarea", { id: "words", rows: 3, maxlength: 240, class: "grow" });
  const mine = openPanel(table ? t("desk.message-to", { place: `${table.section}${table.table}` }) : t("desk.message-all-title"), h("label", { for: "words" }, t("desk.words")), text,
    h("p", {}, doing(t("desk.send"), async () => { const done = await act("message", { text: text.value, ...(table ? { section: table.section, table: table.table } : {}) }, t("desk.sent")); if (mine()) openPanel(t("desk.message"), h("p", { class: "note good" }, t("desk.sent-to", { count: done.terminals }))); }, "primary")));
  text.focus();
}

// --- news --------------------------------------------------------------------------------------------------------

// Read everything anew, soon; a stream of news may bring it forward but never put it off.
export function reload(delay = 200) {
  const at = Date.now() + delay;
  if (timer && due <= at) return;
  clearTimeout(timer);
  due = at;
  timer = setTimeout(() => {
    timer = null;
    if (reloading) return reload(300);
    reloading = readDesk().then(() => { if (["now", "boards", "ranking", "terminals"].includes(D.view)) draw(true); else line(); }).catch(() => {}).finally(() => { reloading = null; });
  }, delay);
}

// The desk's state: done when there is one that was asked for now or later; an older answer that comes late is not taken.
let newest = null;
function readDesk() {
  const mine = reading();
  newest = get("/desk").then((data) => {
    if (!mine()) return newest;
    // By the service's clock: the one of this tablet may be wrong.
    const left = data.event.clock?.left;
    if (left !== undefined) data.event.clock.until = Date.now() + left * 1000;
    D.data = data;
  });
  return newest;
}

// After an act of this page: what it shows next is what the service says now. The act is done: that its news can't be
// fetched is no reason to tell that it failed.
export async function again(view) {
  try { await readDesk(); } catch { later(view); }
  return show(view);
}
const later = (view) => setTimeout(() => readDesk().then(() => D.view === view && draw(true), () => later(view)), 1500);

function onEvent(kind, data) {
  if (kind === "result" && D.data) {
    const cell = D.data.grid.cells.find((c) => c.section === data.section && c.board === data.board && c.ns === data.ns && c.ew === data.ew);
    if (cell) Object.assign(cell, { state: data.state, text: data.text, score: data.score, changes: data.changes, hidden: data.hidden });
    if (D.view === "now") draw(true);
  }
  // A result is on the screen already; rounds, lateness and warnings that follow from it may take a moment.
  if (kind === "result") reload(1500);
  else if (["desk", "reset", "terminals", "people"].includes(kind)) reload();
}

function askCode(wrong) {
  const input = h("input", { id: "code", autocomplete: "off", autocapitalize: "off", spellcheck: "false", placeholder: "xxxx-xxxx-xxxx" });
  const form = h("form", { class: "card", onsubmit: (e) => { e.preventDefault(); begin(input.value.trim()); } }, h("h2", {}, t("desk-code")), wrong ? h("p", { class: "note bad", role: "alert" }, wrong) : "", h("label", { for: "code" }, t("code")), input, h("p", { class: "soft small" }, t("desk-code-help")), h("button", { class: "primary" }, t("open")));
  main.replaceChildren(form);
  document.getElementById("nav").replaceChildren();
  input.focus();
}

async function begin(code) {
  if (!code) return askCode("");
  D.token = code;
  try {
    await readDesk();
  } catch (error) {
    if (error instanceof ApiError && [401, 403, 429].includes(error.status)) { store("desk", null); return askCode(t(error.status === 429 ? "desk-code-wait" : "desk-code-wrong")); }
    main.replaceChildren(problem(error), button(t("desk.again"), () => begin(code)));
    return;
  }
  if (D.token !== code || !D.data) return; // another code was given meanwhile
  store("desk", code);
  draw();
  source?.stop();
  source = listen("/stream", code, { onEvent, lastId: String(D.data.event.version), onState: (up, error) => { const was = D.up; D.up = up; line(); if (up && !was) reload(); if (error) askCode(t("desk.code-changed")); } });
}

document.getElementById("language").replaceChildren(languageChoice(() => draw()));
// The address may name a view, or hold a code (from the line that the service prints), which should not stay there.
function fromAddress() {
  const hash = location.hash.slice(1);
  if (/^[a-z-]{1,10}$/.test(hash)) D.view = hash;
  else if (hash.length > 10) history.replaceState(null, "", location.pathname);
  return hash.length > 10 ? hash : "";
}
const opened = loadWords(), given = fromAddress();
addEventListener("hashchange", () => { const code = fromAddress(); if (code) begin(code); else draw(); });
opened.then(() => begin(given || stored("desk") || ""));
