// The director's desk: one state from the service, kept fresh by its stream, and one view of it at a time.
import { ApiError, api, button, contractText, h, listen, signed, store, stored } from "./base.js";
import { progress } from "./charts.js";
import { boardsView, openPlay } from "./desk-board.js";
import { endView, planView, rankingView, setupView, terminalsView } from "./desk-session.js";

export const D = { token: null, data: null, view: "now", up: false, section: null, board: null, actor: stored("actor") || "" };
const main = document.getElementById("main"), panel = document.getElementById("panel");
let source = null, timer = null, due = 0, reloading = null;

export const get = (path) => api(path, { token: D.token });
export const post = (path, body) => api(path, { token: D.token, body });
export const letters = () => D.data.event.sections.map((s) => s.letter);
export const rank = { viewer: 0, assistant: 1, director: 2 };
export const may = (role) => rank[D.data.role] >= rank[role];

export async function act(name, body, words) {
  const done = await post(`/actions/${name}`, { actor: D.actor || D.data.role, ...body });
  say(words || "Done.");
  reload();
  return done;
}

export function say(text) { document.getElementById("say").textContent = ""; setTimeout(() => { document.getElementById("say").textContent = text; }, 30); }

export function problem(error) {
  return h("p", { class: "note bad", role: "alert" }, error instanceof ApiError ? error.message : "The service does not answer. Try again.");
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

export function openPanel(title, ...content) {
  panel.replaceChildren(h("div", { class: "row" }, h("h2", { id: "paneltitle", class: "grow", tabindex: "-1" }, title), button("Close", () => panel.close(), "plain", { "aria-label": "Close" })), ...content.flat(3).filter(Boolean));
  if (!panel.open) panel.showModal();
  panel.querySelector("h2").focus();
}
export const closePanel = () => panel.close();

const VIEWS = { now: ["Now", nowView], boards: ["Boards", boardsView], ranking: ["Ranking", rankingView], terminals: ["Terminals", terminalsView], plan: ["Plan", planView], end: ["End", endView], setup: ["New event", setupView] };

export function show(view) {
  D.view = view;
  history.replaceState(null, "", `#${view}`);
  draw();
  main.querySelector("h2")?.focus?.();
}

async function draw() {
  if (!D.data) return;
  const event = D.data.event;
  document.getElementById("title").textContent = event.active ? event.name : "Director's desk";
  document.title = event.active ? `${event.name} · desk` : "Director's desk";
  document.getElementById("role").replaceChildren(h("span", { class: "tag" }, D.data.role));
  if (!event.active) D.view = "setup";
  const attention = D.data.alerts.length;
  document.getElementById("nav").replaceChildren(...Object.entries(VIEWS).filter(([name]) => event.active || name === "setup").filter(([name]) => name !== "setup" || may("director")).map(([name, [label]]) => button(name === "now" && attention ? `${label} (${attention})` : label, () => show(name), "", { "aria-current": D.view === name ? "page" : null })));
  line();
  try {
    const made = await VIEWS[D.view][1]();
    main.replaceChildren(...[made].flat(3).filter(Boolean));
  } catch (error) { main.replaceChildren(problem(error)); }
}

function line() {
  document.getElementById("line").replaceChildren(h("span", { class: D.up ? "tag good" : "tag bad" }, D.up ? "live" : "no connection"));
}

setInterval(() => {
  const c = D.data?.event.clock, place = document.getElementById("clock");
  if (!c || !c.minutes) { place.textContent = ""; place.hidden = true; return; }
  const left = Math.round(c.at + c.minutes * 60 - Date.now() / 1000), abs = Math.abs(left);
  place.hidden = false;
  place.textContent = `Round ${c.round}: ${left < 0 ? "−" : ""}${Math.floor(abs / 60)}:${String(abs % 60).padStart(2, "0")}`;
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
      h("section", { class: "card", "aria-labelledby": "alerts" }, h("h2", { id: "alerts" }, alerts.length ? `Needs you (${alerts.length})` : "Nothing needs you"), h("ul", { class: "alerts" }, alerts.slice(0, 30).map(alertLine))),
      event.sections.map((s) => s.movement && h("section", { class: "card" }, h("h2", {}, event.sections.length > 1 ? `Section ${s.letter}` : "Tables"), h("div", { class: "scroll" }, gridTable(s, rounds))))),
    h("div", {},
      h("section", { class: "card" }, h("h2", {}, `${grid.counts.stored} of ${grid.counts.expected} results`), progress(bars)),
      grid.others.length ? h("section", { class: "card" }, h("h2", {}, "Not in the movement"), h("ul", {}, grid.others.map((o) => h("li", {}, button(`Board ${o.board}: ${o.ns} – ${o.ew} ${o.text}`, () => openPlay(o), "plain"))))) : "",
      event.notes, h("section", { class: "card small" }, event.sections.map((s) => h("p", {}, s.movement || "No movement yet.")), event.settings.playing_director.length ? h("p", {}, `Playing director: ${event.settings.playing_director.join(", ")}. Boards still to play are veiled.`) : "")));
}

function alertLine(a) {
  const kind = a.rank <= 2 ? "urgent" : a.rank >= 5 ? "calm" : "";
  const tools = [];
  if (a.play) tools.push(button("Look", () => openPlay(a.play)));
  if (a.kind === "call") tools.push(...doing("Coming", () => act("answer-call", { section: a.section, table: a.table, state: 2 })), ...doing("Done", () => act("answer-call", { section: a.section, table: a.table, state: 3 })));
  if (a.alarm) tools.push(...doing("Seen", () => act("seen", { kind: a.alarm[0], subject: a.alarm[1] })));
  if (a.kind === "check") tools.push(...doing("Seen", () => act("seen", { number: a.number })));
  if (a.kind === "admission") tools.push(...doing(a.held ? "Let it take over" : "Admit", () => act(a.held ? "replace" : "admit", { device: a.device, section: a.section, table: a.table })));
  return h("li", { class: kind, "data-alert": a.kind }, h("span", {}, a.text), may("assistant") ? tools : a.play ? tools : "");
}

function gridTable(section, rounds) {
  const cells = D.data.grid.cells.filter((c) => c.section === section.letter), tables = D.data.grid.tables.filter((x) => x.section === section.letter);
  return h("table", { class: "grid" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Table"), rounds.map((r) => h("th", { scope: "col" }, `R${r}`)))),
    h("tbody", {}, tables.map((x) => h("tr", {}, h("th", { scope: "row" }, `${x.section}${x.table} `, x.terminal ? (x.present ? "" : h("span", { class: "tag warn" }, "silent")) : h("span", { class: "small soft" }, "no terminal"), x.locked ? h("span", { class: "tag bad" }, "locked") : "", x.call ? h("span", { class: x.call === 1 ? "tag bad" : "tag warn" }, x.call === 1 ? "calls" : "coming") : ""),
      rounds.map((r) => {
        const of = cells.filter((c) => c.table === x.table && c.round === r);
        if (!of.length) return h("td", {}, h("span", { class: "soft" }, "–"));
        const got = of.filter((c) => c.state !== "missing").length, look = of.some((c) => c.state === "attention");
        const kind = look ? "look" : got === of.length ? "full" : x.behind && r === x.round ? "late" : got ? "some" : "none";
        const word = { look: "look", full: "complete", late: "late", some: "under way", none: "not begun" }[kind];
        return h("td", {}, button([`${got}/${of.length}`, look ? " !" : ""], () => openRound(x, r), kind, { "aria-label": `Table ${x.section}${x.table}, round ${r}: ${got} of ${of.length}, ${word}` }));
      })))));
}

function openRound(table, round) {
  const of = D.data.grid.cells.filter((c) => c.section === table.section && c.table === table.table && c.round === round);
  openPanel(`Table ${table.section}${table.table}, round ${round}`,
    h("p", {}, `${of[0].ns} North-South against ${of[0].ew} East-West`),
    h("table", {}, h("tbody", {}, of.map((c) => h("tr", {}, h("td", {}, `Board ${c.board}`), h("td", {}, c.hidden ? h("span", { class: "soft" }, "veiled") : contractText(c.text)), h("td", { class: "n" }, signed(c.score)), h("td", {}, stateTag(c.state)), h("td", {}, button("Open", () => openPlay(c))))))),
    may("assistant") ? h("div", { class: "row" }, doing(table.locked ? "Unlock table" : "Lock table", async () => { await act("lock", { section: table.section, table: table.table, locked: !table.locked }); closePanel(); }),
      button("Message to this table", () => messageForm(table))) : "");
}

export function stateTag(state) {
  const kind = { attention: "bad", missing: "", entered: "warn", confirmed: "good", amended: "", final: "good" }[state] ?? "";
  return h("span", { class: `tag ${kind}` }, state);
}

export function messageForm(table) {
  const text = h("textarea", { id: "words", rows: 3, maxlength: 240, class: "grow" });
  openPanel(table ? `Message to table ${table.section}${table.table}` : "Message to all tables", h("label", { for: "words" }, "Words"), text,
    h("p", {}, doing("Send", async () => { const done = await act("message", { text: text.value, ...(table ? { section: table.section, table: table.table } : {}) }, "Sent."); openPanel("Message", h("p", { class: "note good" }, `Sent to ${done.terminals} terminals.`)); }, "primary")));
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
    reloading = get("/desk").then((data) => { D.data = data; if (["now", "boards", "ranking", "terminals"].includes(D.view)) draw(); else line(); }).catch(() => {}).finally(() => { reloading = null; });
  }, delay);
}

function onEvent(kind, data) {
  if (kind === "result" && D.data) {
    const cell = D.data.grid.cells.find((c) => c.section === data.section && c.board === data.board && c.ns === data.ns && c.ew === data.ew);
    if (cell) Object.assign(cell, { state: data.state, text: data.text, score: data.score, changes: data.changes, hidden: data.hidden });
    if (D.view === "now") draw();
  }
  // A result is on the screen already; rounds, lateness and warnings that follow from it may take a moment.
  if (kind === "result") reload(1500);
  else if (["desk", "reset", "terminals", "people"].includes(kind)) reload();
}

function askCode(wrong) {
  const input = h("input", { id: "code", autocomplete: "off", autocapitalize: "off", spellcheck: "false", placeholder: "xxxx-xxxx-xxxx" });
  const form = h("form", { class: "card", onsubmit: (e) => { e.preventDefault(); begin(input.value.trim()); } }, h("h2", {}, "The desk's code"), wrong ? h("p", { class: "note bad", role: "alert" }, wrong) : "", h("label", { for: "code" }, "Code"), input, h("p", { class: "soft small" }, "It was shown where the service was started. Assistants and viewers get theirs from the director."), h("button", { class: "primary" }, "Open"));
  main.replaceChildren(form);
  document.getElementById("nav").replaceChildren();
  input.focus();
}

async function begin(code) {
  if (!code) return askCode("");
  D.token = code;
  try {
    D.data = await get("/desk");
  } catch (error) {
    if (error instanceof ApiError && [401, 403, 429].includes(error.status)) { store("desk", null); return askCode(error.status === 429 ? "Too many wrong codes. Wait a minute." : "This code is not known."); }
    main.replaceChildren(problem(error), button("Try again", () => begin(code)));
    return;
  }
  store("desk", code);
  draw();
  source?.stop();
  source = listen("/stream", code, { onEvent, lastId: String(D.data.event.version), onState: (up, error) => { const was = D.up; D.up = up; line(); if (up && !was) reload(); if (error) askCode("The code has been changed."); } });
}

const hash = location.hash.slice(1);
if (VIEWS[hash]) D.view = hash;
else if (hash.length > 10) history.replaceState(null, "", location.pathname); // a code in the address should not stay there
begin(VIEWS[hash] || hash.length <= 10 ? stored("desk") || "" : hash);
