// What the forms of the desk have beside the usual: sections with movements of their own, files of the club, earlier
// events as a pattern, draws of Swiss events, names of pairs and teams, and changes of plan that name many tables.
import { h, said, t } from "./base.js";
import { addCard, addPlan, again, D, doing, field, get, letters, may, number, post, previewOf, value } from "./desk.js";
import { eventOptions, startEvent } from "./desk-setup.js";

const SOURCES = ["named", "file", "pairs", "later"], SCORINGS = ["", "imps", "board_a_match", "aggregate", "matchpoints", "cross_imps", "butler"];
const SCALES = ["profile", "continuous", "discrete", "percent", "none"], PROFILES = ["plain", "wbf", "ebu", "acbl", "pzbs"];
const numbers = (text) => text.split(/[\s,;]+/).filter(Boolean).flatMap((part) => {
  const [from, to] = part.split("-").map(Number);
  return to ? Array.from({ length: Math.max(0, Math.min(to - from + 1, 99)) }, (_, i) => from + i) : [from];
});
const select = (id, values, words, props = {}) => h("select", { id, ...props }, values.map((v) => h("option", { value: v }, words(v))));
const sectionField = (id, props = {}) => (letters().length > 1 ? field(id, t("desk.section-label"), h("select", props, letters().map((l) => h("option", {}, l)))) : "");
const sectionOf = (id) => (letters().length > 1 ? value(id) : letters()[0]);

// Spreadsheets write UTF-16 now and then; its first two bytes say so.
async function fileText(file) {
  const data = await file.arrayBuffer(), start = [...new Uint8Array(data.slice(0, 2))].join();
  return new TextDecoder(start === "255,254" ? "utf-16le" : start === "254,255" ? "utf-16be" : "utf-8").decode(data);
}

// --- sections ----------------------------------------------------------------------------------------------------

const rows = [{ source: "named", text: "mitchell:7x4,missing=ew", boards: "", file: null, seeding: false }];

function sectionRow(row, at) {
  const set = (key) => (e) => { row[key] = e.target.value; };
  const what = {
    named: () => field(`sec_text_${at}`, t("desk.movement-text"), h("input", { value: row.text, maxlength: 200, list: "movementkinds", oninput: set("text") }), "broad"),
    file: () => field(`sec_file_${at}`, t("desk.movement-file"), h("input", { type: "file", accept: ".yaml,.yml,.csv", onchange: (e) => { row.file = e.target.files[0] || null; } }), "broad"),
    pairs: () => field(`sec_text_${at}`, t("desk.pairs"), h("input", { type: "number", min: 3, max: 200, value: row.text, oninput: set("text") })),
    later: () => h("p", { class: "soft" }, t("desk.source-later-help")),
  };
  const place = h("div", { class: "fields" });
  const fill = () => place.replaceChildren(
    field(`sec_source_${at}`, `${t("desk.section-label")} ${String.fromCharCode(65 + at)}`, select(`sec_source_${at}`, SOURCES, (v) => t(`desk.source-${v}`), { onchange: (e) => { row.source = e.target.value; row.text = ""; fill(); } })),
    what[row.source](),
    ...(row.source === "later" ? [] : [field(`sec_boards_${at}`, t("desk.own-boards"), h("input", { value: row.boards, maxlength: 200, placeholder: "17-32", oninput: set("boards") }))]),
    ...(row.text.startsWith("swiss") ? [h("label", {}, h("input", { type: "checkbox", id: `sec_seed_${at}`, checked: row.seeding, onchange: (e) => { row.seeding = e.target.checked; } }), ` ${t("desk.random-draw")}`)] : []));
  fill();
  place.querySelector("select").value = row.source;
  return place;
}

async function described() {
  return Promise.all(rows.map(async (row) => ({
    ...(row.source === "named" ? { movement: row.text.trim(), ...(row.seeding && row.text.startsWith("swiss") ? { seeding: "random" } : {}) } : {}),
    ...(row.source === "file" && row.file ? { file: await fileText(row.file) } : {}),
    ...(row.source === "pairs" ? { pairs: Number(row.text) } : {}),
    ...(row.boards.trim() && row.source !== "later" ? { boards: row.boards.trim() } : {}),
  })));
}

async function sectionsCard() {
  const [kinds, events] = await Promise.all([get("/setup/kinds"), get("/setup/events")]);
  const list = h("div", {}), seen = h("div", { "aria-live": "polite" });
  const fill = () => list.replaceChildren(...rows.map(sectionRow));
  const line = (one) => h("li", {}, one.movement ? `${one.name}: ${said(one.movement)}, ${one.boards}` : `${one.name}: ${t("desk.source-later")}`, h("ul", { class: "soft" }, (one.warnings || []).slice(0, 4).map((w) => h("li", {}, said(w)))));
  const check = async () => seen.replaceChildren(h("ul", {}, (await post("/setup/check", { sections: await described() })).map(line)));
  const options = () => {
    const own = eventOptions(), scoring = value("sec_method");
    return { ...own, ...(scoring ? { method: scoring } : {}), scale: value("sec_scale"), knockout: document.getElementById("sec_knockout").checked, settings: { ...own.settings, across: document.getElementById("sec_across").checked, profile: value("sec_profile") } };
  };
  fill();
  return h("section", { class: "card" }, h("h2", {}, t("desk.own-sections")), h("p", { class: "soft" }, t("desk.own-sections-help")), h("datalist", { id: "movementkinds" }, kinds.map((k) => h("option", { value: `${k.kind}:` }, k.words))),
    list, h("p", { class: "row" }, doing(t("desk.add-section"), async () => { if (rows.length < 26) rows.push({ source: "named", text: "", boards: "", file: null, seeding: false }); fill(); }, "", { id: "addsection" }), rows.length ? doing(t("desk.drop-section"), async () => { if (rows.length > 1) rows.pop(); fill(); }) : ""),
    h("div", { class: "fields" }, field("sec_method", t("desk.scoring"), select("sec_method", SCORINGS, (v) => t(v ? `method.${v}` : "desk.as-above"))), field("sec_scale", t("desk.scale"), select("sec_scale", SCALES, (v) => t(`desk.scale-${v}`))), field("sec_profile", t("desk.profile"), select("sec_profile", PROFILES, (v) => v.toUpperCase()))),
    h("div", { class: "boxes" }, h("label", {}, h("input", { type: "checkbox", id: "sec_across" }), ` ${t("setting.across")}`), h("label", {}, h("input", { type: "checkbox", id: "sec_knockout" }), ` ${t("desk.knockout")}`)),
    h("p", { class: "row" }, doing(t("desk.check-sections"), check, "", { id: "checksections" }), doing(t("desk.begin-sections"), async () => startEvent({ ...options(), sections: await described() }), "primary", { id: "beginsections" })), seen,
    events.length ? h("p", { class: "row" }, field("earlier", t("desk.like-earlier"), h("select", {}, events.map((e) => h("option", { value: e.event }, `${e.name}: ${e.movements.map(said).join(", ")}`)))), doing(t("desk.same-again"), () => startEvent({ again: value("earlier"), settings: {} }), "", { id: "againearlier" })) : "");
}

// --- Swiss -------------------------------------------------------------------------------------------------------

async function drawCards() {
  const kept = await get("/plan");
  return kept.sections.filter((s) => s.swiss).map((s) => {
    const box = h("section", { class: "card" }), id = (name) => `draw_${name}_${s.section}`;
    const body = () => ({ section: s.section, absent: numbers(value(id("absent"))), join: numbers(value(id("join"))), actor: D.actor, anyway: document.getElementById(id("anyway")).checked });
    const { place, look, seen } = previewOf(box, () => post("/plan/draw/preview", body()), (found) => [h("h3", {}, `${t("round", { round: found.round })}, ${t("boards")} ${found.boards}`), h("ul", {}, found.tables.map((x) => h("li", {}, t("desk.draw-line", { table: x.table, ns: x.ns, ew: x.ew }))), found.bye ? h("li", {}, t("desk.draw-bye", { pair: found.bye })) : "", found.repeats.map(([a, b]) => h("li", { class: "note warn" }, t("desk.draw-again", { a, b }))))]);
    // The draw that was looked at, or none: a correction that came meanwhile may make another one of it.
    const draw = async () => { await post("/plan/draw", { ...body(), ...(seen() ? { seen: seen().version, couples: seen().couples } : {}) }); await again("plan"); };
    box.append(h("h2", {}, `${t("desk.draw-next")}${letters().length > 1 ? ` (${s.section})` : ""}`),
      h("div", { class: "fields" }, field(id("absent"), t("desk.draw-absent"), h("input", { autocomplete: "off" })), field(id("join"), t("desk.draw-join"), h("input", { autocomplete: "off" }))),
      h("label", {}, h("input", { type: "checkbox", id: id("anyway") }), ` ${t("desk.draw-anyway")}`),
      h("p", { class: "row" }, doing(t("desk.preview"), look, "", { id: id("preview") }), may("director") ? doing(t("desk.draw-it"), draw, "primary", { id: id("it") }) : ""), place);
    return box;
  });
}

// --- a section's movement later, names, cards ----------------------------------------------------------------------

function movementCard() {
  const box = h("section", { class: "card" });
  const body = async () => {
    const file = document.getElementById("mv_file").files[0];
    return { section: value("mv_section").trim().toUpperCase() || letters()[0], ...(file ? { file: await fileText(file) } : { movement: value("mv_text").trim() }), ...(value("mv_boards").trim() ? { boards: value("mv_boards").trim() } : {}), actor: D.actor, anyway: document.getElementById("mv_anyway").checked };
  };
  const { place, look, seen } = previewOf(box, async () => post("/setup/movement/preview", await body()), (found) => [h("p", {}, `${said(found.movement)}, ${found.boards}`), h("ul", {}, [...found.unbound, ...(found.problems || []), ...(found.orphans || [])].slice(0, 12).map((w) => h("li", {}, said(w))))]);
  const change = async () => { await post("/setup/movement", { ...(await body()), ...(seen()?.version ? { seen: seen().version } : {}) }); await again("plan"); };
  box.append(h("h2", {}, t("plan.replanned")), h("p", { class: "soft" }, t("desk.movement-help")),
    h("div", { class: "fields" }, field("mv_section", t("desk.section-label"), h("input", { value: letters()[0], maxlength: 3 })), field("mv_text", t("desk.movement-text"), h("input", { maxlength: 200 }), "broad"), field("mv_file", t("desk.movement-file"), h("input", { type: "file", accept: ".yaml,.yml,.csv" }), "broad"), field("mv_boards", t("desk.own-boards"), h("input", { maxlength: 200, placeholder: "17-32" }))),
    h("label", {}, h("input", { type: "checkbox", id: "mv_anyway" }), ` ${t("desk.results-outside")}`),
    h("p", { class: "row" }, doing(t("desk.preview"), look), doing(t("desk.set-movement"), change, "primary", { id: "setmovement" })), place);
  return box;
}

// Names, each with the number that may stand behind it.
function players(words) {
  const found = [];
  for (const word of words.filter(Boolean)) {
    if (/^\d{1,12}$/.test(word) && found.length) found.at(-1).number = word;
    else found.push({ name: word });
  }
  return found;
}

async function namesCard() {
  const kept = await get("/plan");
  const keep = async () => {
    const section = sectionOf("names_section"), teams = kept.sections.find((s) => s.section === section)?.format === "teams";
    const people = value("names").split("\n").map((line) => line.split(/[;\t]/).map((x) => x.trim())).filter(([n]) => /^\d+$/.test(n)).map(([n, ...words]) => ({ [teams ? "team" : "pair"]: Number(n), ...(teams ? { name: words[0] || "" } : {}), players: players(words.slice(teams ? 1 : 0)) }));
    await post("/setup/people", { section, people });
    await again("plan");
  };
  const download = (which) => async () => {
    const section = sectionOf("names_section"), answer = await fetch(`/api/v1/plan/cards/${which}?section=${section}`, { headers: { authorization: `Bearer ${D.token}` } });
    if (!answer.ok) throw new Error(answer.statusText);
    const url = URL.createObjectURL(await answer.blob());
    Object.assign(document.createElement("a"), { href: url, download: `${which}-${section}.pdf` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  };
  return h("section", { class: "card" }, h("h2", {}, t("desk.names-cards")), h("p", { class: "soft" }, t("desk.names-help")), sectionField("names_section"),
    field("names", t("desk.names"), h("textarea", { rows: 5, spellcheck: "false" })), h("p", { class: "row" }, doing(t("desk.keep"), keep, "primary", { id: "keepnames" }), doing(t("desk.guide-cards"), download("guide")), doing(t("desk.table-cards"), download("tables"))));
}

// --- changes of plan that name boards and tables -------------------------------------------------------------------

const scoreField = () => field("p_score", t("desk.verdict"), h("input", { placeholder: "60/40", maxlength: 8, autocomplete: "off" }));
const score = () => {
  const [ns, ew] = value("p_score").split("/").map(Number);
  return value("p_score").trim() ? { state: "artificial", ns, ew } : { state: "not-played" };
};
const roundsOf = (section) => D.data.event.sections.find((s) => s.letter === section)?.rounds || 1;
let planned = [];

addPlan("late-pair", {
  fields: (s) => [field("p_round", t("desk.from-round"), number("p_round", { max: roundsOf(s), value: 1 })), field("p_place", t("desk.where"), select("p_place", ["auto", "phantom", "rover", "appendix"], (x) => t(`desk.place-${x}`)), "broad"), field("p_missed", t("desk.missed"), h("input", { placeholder: "13-14", autocomplete: "off" })), scoreField()],
  event: () => ({ round: Number(value("p_round")), place: value("p_place"), missed: numbers(value("p_missed")), verdict: score() }),
});

// Every table of the round as the plan has it, to be written over with what was really played.
addPlan("played-as", {
  fields: (s) => {
    const place = h("div", { class: "scroll" }), round = number("p_round", { max: roundsOf(s), value: 1, onchange: () => fill() });
    const input = (id, v) => h("td", {}, h("input", { id, value: v, size: 8, "aria-label": id, autocomplete: "off" }));
    const fill = async () => {
      planned = []; // until the round is there, nothing differs from it
      place.replaceChildren();
      const plan = await get(`/plan/movement?section=${s}`);
      if (!place.isConnected) return; // another section, or another form, by now
      const individual = plan.format === "individual";
      planned = plan.seatings.filter((x) => x.round === Number(round.value));
      const heads = [t("desk.table"), ...(individual ? [t("desk.seats-nesw")] : [t("NS"), t("EW")]), t("boards")];
      const row = (x) => h("tr", {}, h("th", { scope: "row" }, x.table), individual ? input(`pa_players_${x.table}`, x.players.join("-")) : [input(`pa_ns_${x.table}`, x.ns), input(`pa_ew_${x.table}`, x.ew)], input(`pa_boards_${x.table}`, x.boards.join(" ")));
      place.replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, heads.map((x) => h("th", {}, x)))), h("tbody", {}, planned.map(row))));
    };
    fill();
    return [field("p_round", t("round-label"), round), place, field("p_then", t("desk.then"), select("p_then", ["return", "follow"], (x) => t(`desk.then-${x}`)), "broad"), scoreField()];
  },
  event: () => ({ round: Number(value("p_round")), then: value("p_then"), verdict: score(), tables: planned.flatMap(seatedAs) }),
});

// A table that differs from the plan as the service takes it; nothing for one that does not.
function seatedAs(was) {
  const boards = numbers(value(`pa_boards_${was.table}`)), who = was.players ? { players: value(`pa_players_${was.table}`).split(/[\s,-]+/).map(Number) } : { ns: Number(value(`pa_ns_${was.table}`)), ew: Number(value(`pa_ew_${was.table}`)) };
  const same = was.players ? who.players.join() === was.players.join() : who.ns === was.ns && who.ew === was.ew;
  return same && boards.join() === was.boards.join() ? [] : [{ table: was.table, ...who, boards }];
}

addCard("setup", { role: "director", make: sectionsCard });
addCard("plan", { role: "assistant", make: drawCards });
addCard("plan", { role: "director", make: movementCard });
addCard("plan", { role: "assistant", make: namesCard });
