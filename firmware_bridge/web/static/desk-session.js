// The session as a whole: begin it, its terminals, what changes its plan, its ranking, and going home.
import { ApiError, api, button, h } from "./base.js";
import { rounds } from "./charts.js";
import { D, act, doing, get, letters, may, messageForm, openPanel, post, reload, show } from "./desk.js";

const field = (id, label, element) => h("div", {}, h("label", { for: id }, label), Object.assign(element, { id }));
const value = (id) => document.getElementById(id)?.value ?? "";

// --- begin -------------------------------------------------------------------------------------------------------

export async function setupView() {
  if (!may("director")) return h("p", { class: "card" }, "No event has begun yet. The director begins it.");
  const before = await get("/setup/previous"), place = h("div", { class: "props", "aria-live": "polite" });
  const today = new Date().toLocaleDateString(undefined, { weekday: "long", day: "numeric", month: "long" });
  const running = D.data.event.active && !D.data.event.final && D.data.grid.counts.stored > 0;
  const minutes = () => {
    const [hh, mm] = value("finish").split(":").map(Number), [sh, sm] = value("start").split(":").map(Number);
    return (hh * 60 + mm - (sh * 60 + sm) + 1440) % 1440;
  };
  const options = () => ({
    name: value("eventname"), method: value("method"), instead: document.getElementById("instead")?.checked || false,
    settings: { admit_all: true, ...(value("pair") ? { playing_director: [value("pair").trim().toUpperCase()] } : {}), lead: value("leads") === "yes", ...(value("pin") ? { director_pin: value("pin") } : {}) },
  });
  const start = async (body) => { await post("/setup/start", { ...options(), ...body }); D.data = await get("/desk"); show("terminals"); };
  const offer = async () => {
    const found = await post("/setup/propose", { pairs: Number(value("pairs")), minutes: minutes(), minutes_per_board: Number(value("pace")), boards: Number(value("boardcount") || 0) });
    place.replaceChildren(...found.map((p, i) => h("section", { class: "card" }, h("h3", {}, p.movement), i === 0 ? h("span", { class: "tag good" }, "recommended") : "",
      h("ul", {}, h("li", {}, `${p.rounds} rounds of ${p.boards_per_round} boards, ${p.boards} boards in play`), h("li", {}, `ends after ${Math.floor(p.minutes / 60)} h ${p.minutes % 60} min`), h("li", {}, p.winners === 2 ? "two winners" : "one winner"), p.sit_outs ? h("li", {}, `a sit-out of ${p.sit_out_boards} boards`) : h("li", {}, "nobody sits out"), p.shared_rounds ? h("li", {}, `tables share boards in ${p.shared_rounds} rounds`) : "", h("li", {}, p.copies > 1 ? `${p.copies} copies of each board` : "one set of boards"), p.remarks.slice(0, 2).map((r) => h("li", { class: "soft" }, r))), doing("Play this", () => start({ spec: p.spec, sections: Number(value("sections") || 1) }), i === 0 ? "primary" : "", { "data-spec": p.spec }))));
  };
  const clock = new Date(), pad = (n) => String(n).padStart(2, "0"), later = new Date(clock.getTime() + 210 * 60000);
  return [h("section", { class: "card" }, h("h2", { tabindex: "-1" }, "Begin an evening"),
    running ? h("p", { class: "note warn" }, h("label", {}, h("input", { type: "checkbox", id: "instead" }), ` “${D.data.event.name}” is under way. A new event takes its place; its results are kept.`)) : "",
    before ? h("div", { class: "note row" }, h("span", { class: "grow" }, `Same as last time: ${before.name}, ${before.movements.join(", ")}`), doing("Same as last time", () => start({ again: true }), "", { id: "again" })) : "",
    h("div", { class: "fields" },
      field("eventname", "Name", h("input", { value: today, maxlength: 80 })), field("pairs", "Pairs in each section", h("input", { type: "number", min: 3, max: 200, value: 12 })), field("sections", "Sections", h("input", { type: "number", min: 1, max: 26, value: 1 })),
      field("start", "First board", h("input", { type: "time", value: `${pad(clock.getHours())}:${pad(clock.getMinutes())}` })), field("finish", "Finish", h("input", { type: "time", value: `${pad(later.getHours())}:${pad(later.getMinutes())}` })),
      field("pace", "Minutes a board", h("input", { type: "number", min: 3, max: 20, value: 7 })), field("boardcount", "Boards at hand (empty: any)", h("input", { type: "number", min: 2, max: 99 })),
      field("method", "Scoring", h("select", {}, [["matchpoints", "Matchpoints"], ["cross_imps", "Cross-IMPs"], ["butler", "Butler IMPs"], ["aggregate", "Total points"]].map(([v, n]) => h("option", { value: v }, n)))),
      field("leads", "Opening leads", h("select", {}, h("option", { value: "yes" }, "asked"), h("option", { value: "no" }, "not asked"))),
      field("pair", "I play as pair (e.g. A7)", h("input", { maxlength: 4 })), field("pin", "Director's PIN at tables", h("input", { maxlength: 4, inputmode: "numeric", autocomplete: "off" }))),
    h("p", { class: "row" }, doing("Propose movements", offer, "primary", { id: "propose" }))), place];
}

// --- terminals ---------------------------------------------------------------------------------------------------

export async function terminalsView() {
  const found = await get("/terminals");
  const admit = (x) => {
    const section = h("select", { id: "tosection" }, letters().map((l) => h("option", {}, l))), table = h("input", { id: "totable", type: "number", min: 1, value: 1 });
    openPanel(`Terminal ${x.device}`, h("div", { class: "fields" }, field("tosection", "Section", section), field("totable", "Table", table)), h("p", { class: "row" }, doing("Give it this table", () => act("replace", { device: x.device, section: section.value, table: Number(table.value) }), "primary"), doing("Not used tonight", () => act("refuse", { device: x.device }), "danger")));
  };
  return h("section", { class: "card" }, h("div", { class: "row" }, h("h2", { class: "grow", tabindex: "-1" }, "Terminals"), may("director") ? h("a", { class: "button", href: "/cards" }, "Table cards to print") : "", may("assistant") ? doing("Admit all that wait", () => act("admit-all", {})) : "", may("assistant") ? button("Message to all", () => messageForm(null)) : ""),
    found.length ? h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, ["Table", "State", "Kind", "Waiting", "Battery", ""].map((x) => h("th", {}, x)))), h("tbody", {}, found.map((x) => h("tr", {}, h("td", {}, x.table ? `${x.section}${x.table}` : "–"), h("td", {}, h("span", { class: x.present ? "tag good" : "tag warn" }, x.present ? "there" : "away"), " ", x.state), h("td", {}, x.model, h("div", { class: "soft small" }, x.device)), h("td", {}, x.waiting ?? "?"), h("td", {}, x.battery === null ? "" : `${x.battery} %`), h("td", {}, may("assistant") ? button("Change", () => admit(x)) : "")))))) : h("p", {}, "No terminal has shown itself yet. Print the table cards; scanning one opens that table's page on a phone."));
}

// --- ranking -----------------------------------------------------------------------------------------------------

export async function rankingView() {
  const [groups, lines] = await Promise.all([get("/ranking"), get("/rounds")]);
  const unit = D.data.event.method === "matchpoints" ? "%" : "IMPs";
  return h("div", { class: "two" }, h("div", {}, groups.map((g) => h("section", { class: "card" }, h("h2", { tabindex: "-1" }, g.name || "Ranking"), h("table", {}, h("thead", {}, h("tr", {}, h("th", { class: "n" }, "Place"), h("th", { class: "n" }, "Pair"), h("th", {}, "Names"), h("th", { class: "n" }, unit), h("th", { class: "n" }, "Boards"))), h("tbody", {}, g.rows.map((r) => h("tr", {}, h("td", { class: "n" }, r.place), h("td", { class: "n" }, `${letters().length > 1 ? r.section : ""}${r.pair}`), h("td", {}, r.names), h("td", { class: "n" }, r.value), h("td", { class: "n" }, r.boards)))))))),
    h("section", { class: "card" }, h("h2", {}, "Over the rounds"), rounds(lines)));
}

// --- plan --------------------------------------------------------------------------------------------------------

export function planView() {
  const e = D.data.event, s = e.sections[0], effect = h("div", { "aria-live": "polite" });
  const kinds = {
    "late-pair": ["Late pair", () => [field("p_round", "From round", h("input", { type: "number", min: 1, max: s.rounds, value: 1 })), field("p_place", "Where", h("select", {}, ["auto", "phantom", "rover", "appendix"].map((x) => h("option", {}, x))))], () => ({ kind: "late-pair", round: Number(value("p_round")), place: value("p_place") })],
    curtailed: ["End early", () => [field("p_after", "Last round", h("input", { type: "number", min: 1, max: s.rounds, value: s.rounds - 1 }))], () => ({ kind: "curtailed", after_round: Number(value("p_after")) })],
    withdrawn: ["Pair leaves", () => [field("p_pair", "Pair", h("input", { type: "number", min: 1, value: 1 })), field("p_from", "From round", h("input", { type: "number", min: 1, max: s.rounds, value: 2 }))], () => ({ kind: "withdrawn", pair: Number(value("p_pair")), round: Number(value("p_from")) })],
    "stand-by": ["Stand-by pair", () => [field("p_new", "New pair number", h("input", { type: "number", min: 1, value: 99 })), field("p_for", "Instead of", h("input", { type: "number", min: 1, value: 1 })), field("p_since", "From round", h("input", { type: "number", min: 1, value: 1 }))], () => ({ kind: "stand-by", pair: Number(value("p_new")), instead_of: Number(value("p_for")), round: Number(value("p_since")) })],
  };
  const form = h("div", {});
  const open = (name) => {
    const [label, fields, event] = kinds[name];
    const section = h("select", { id: "p_section" }, letters().map((l) => h("option", {}, l)));
    const body = () => ({ section: section.value, event: event(), actor: D.actor });
    effect.replaceChildren();
    form.replaceChildren(h("div", { class: "card" }, h("h3", {}, label), h("div", { class: "fields" }, letters().length > 1 ? field("p_section", "Section", section) : "", fields()), h("p", { class: "row" }, doing("Preview", async () => {
      const found = await post("/plan/preview", body());
      effect.replaceChildren(h("div", { class: `note ${found.ok ? "good" : "bad"}` }, found.ok ? "Nobody plays a board twice." : found.problems.join(" ")), h("p", {}, `${found.results_before} results before, ${found.results_after} then.`), h("ul", {}, [...(found.shares || []), ...found.changes].slice(0, 60).map((c) => h("li", {}, c))));
    }, "", { id: "planpreview" }), doing(label, async () => { await post("/plan/change", body()); effect.replaceChildren(h("p", { class: "note good" }, "Done; the terminals have the new plan.")); reload(); }, "primary", { id: "planchange" })), effect));
  };
  const c = e.clock || {};
  return [
    h("section", { class: "card" }, h("h2", { tabindex: "-1" }, "Round clock"), h("div", { class: "fields" }, field("c_round", "Round", h("input", { type: "number", min: 1, value: (c.round || 0) + 1 })), field("c_minutes", "Minutes", h("input", { type: "number", min: 1, value: c.minutes || (s.boards_per_round || 2) * 7 + 2 }))), h("p", { class: "row" }, doing("Start the round", () => act("clock", { round: Number(value("c_round")), minutes: Number(value("c_minutes")) }), "primary"), button("Message to all", () => messageForm(null)), doing("Close the round", async () => { const number = Number(value("c_round")); try { await act("close-round", { section: letters()[0], round: number }); } catch (error) { if (error.code !== "boards-missing" || !confirm(`${error.message}\n\nClose it anyway?`)) throw error; await act("close-round", { section: letters()[0], round: number, anyway: true }); } }))),
    h("section", { class: "card" }, h("h2", {}, "Change of plan"), h("div", { class: "tabs" }, Object.entries(kinds).map(([name, [label]]) => button(label, () => open(name), "", { "data-plan": name }))), form),
    may("director") ? h("section", { class: "card" }, h("h2", {}, "Penalties and bonuses"), h("ul", {}, e.penalties.map((p) => h("li", {}, `${p.section}${p.pair}: ${p.amount} (${p.unit}) ${p.reason} — ${p.actor} `, doing("Take back", async () => { await act("penalty", { undo: p.number }); D.data = await get("/desk"); show("plan"); }, "plain")))), h("div", { class: "fields" }, field("pen_pair", "Pair", h("input", { type: "number", min: 1 })), field("pen_amount", "Amount (minus: penalty)", h("input", { value: "-1/4" })), field("pen_unit", "Unit", h("select", {}, [["top", "of a top"], ["percent", "percent"], ["imps", "IMPs"]].map(([v, n]) => h("option", { value: v }, n)))), field("pen_reason", "Reason", h("input", { maxlength: 200 }))), h("p", { class: "row" }, doing("Give it", async () => { await act("penalty", { section: letters()[0], pair: Number(value("pen_pair")), amount: value("pen_amount"), unit: value("pen_unit"), reason: value("pen_reason") }); D.data = await get("/desk"); show("plan"); }))) : "",
    may("director") ? h("section", { class: "card" }, h("h2", {}, "Settings"), settingsForm(e)) : "",
  ];
}

function settingsForm(e) {
  const names = { confirm: "The other side accepts each result", lead: "Opening lead is asked", confirm_code: "…with a code of their own", order: "Ask when a board is out of order", checks: "Check entries against deal and field", traveller: "Tables see travellers of boards they have played", percentages: "…with percentages", ranking: "Tables see the ranking", names: "Tables see names", admit_all: "Terminals that name a free table are admitted" };
  const boxes = Object.entries(names).map(([name, words]) => h("label", {}, h("input", { type: "checkbox", id: `s_${name}`, checked: e.settings[name] }), ` ${words}`));
  const pair = h("input", { value: e.settings.playing_director.join(" "), maxlength: 20 });
  return [h("div", {}, boxes), field("s_pair", "I play as pair (A7); boards still to play are veiled", pair), h("label", {}, h("input", { type: "checkbox", id: "s_live", checked: e.live }), " The ranking is public while play goes on"),
    h("p", { class: "row" }, doing("Keep", async () => {
      const settings = Object.fromEntries(Object.keys(names).map((n) => [n, document.getElementById(`s_${n}`).checked]));
      settings.playing_director = pair.value.toUpperCase().split(/[\s,]+/).filter(Boolean);
      const live = document.getElementById("s_live").checked;
      await act("settings", { settings });
      if (live !== e.live) await act("live", { on: live });
    }, "primary"))];
}

// --- end ---------------------------------------------------------------------------------------------------------

export async function endView() {
  const items = await get("/checklist"), e = D.data.event;
  const download = async (path, name) => {
    const answer = await fetch(`/api/v1${path}`, { headers: { authorization: `Bearer ${D.token}` } });
    if (!answer.ok) throw new ApiError(answer.status, (await answer.json()).error);
    const url = URL.createObjectURL(await answer.blob());
    Object.assign(document.createElement("a"), { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    setTimeout(() => show("end"), 800);
  };
  const stamp = new Date().toISOString().slice(0, 10);
  const codes = may("director") ? await get("/codes") : null;
  const upload = h("input", { id: "csv", type: "file", accept: ".csv,text/csv" });
  return [
    h("section", { class: "card" }, h("h2", { tabindex: "-1" }, "Before going home"), h("ul", { class: "alerts" }, items.map((i) => h("li", { class: i.done ? "calm" : "" }, h("span", {}, i.done ? "✓ " : "○ ", i.words, i.details.length ? h("div", { class: "small soft" }, i.details.join("; ")) : ""))))),
    h("section", { class: "card" }, h("h2", {}, "Results"), e.published_at ? h("p", { class: "note good" }, e.final ? "Published and final." : `Published. Corrections until ${new Date(e.ends_at * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })} (Law 79C).`) : "", h("div", { class: "row" }, may("director") && !e.final ? doing(e.published_at ? "Publish again (the period begins anew)" : "Publish", async () => { await act("publish", {}); D.data = await get("/desk"); show("end"); }, e.published_at ? "" : "primary", { id: "publish" }) : "", h("a", { class: "button", href: "/results" }, "Public page"), button("Print ranking", async () => { await show("ranking"); setTimeout(() => print(), 400); }))),
    h("section", { class: "card" }, h("h2", {}, "Files"), h("div", { class: "row" }, doing("Results (JSON)", () => download("/export", `results-${stamp}.json`)), [["ranking", "Ranking (PDF)", "pdf"], ["travellers", "Travellers (PDF)", "pdf"], ["scorecards", "Scorecards (PDF)", "pdf"], ["hands", "Hands (PDF)", "pdf"], ["usebio", "USEBIO", "xml"], ["pbn", "PBN", "pbn"], ["csv", "CSV", "csv"], ["bridgewebs", "BridgeWebs", "csv"], ["lines", "Everything (JSON lines)", "jsonl"]].map(([name, words, ext]) => doing(words, () => download(`/files/${name}`, `${name}-${stamp}.${ext}`))), may("director") ? doing("Backup of everything", () => download("/backup", `firmware-bridge-${stamp}.db`)) : ""), h("p", { class: "soft small" }, "Save the backup to a stick: choose the stick as the folder of the download.")),
    codes ? h("section", { class: "card" }, h("h2", {}, "Codes and players"), h("p", {}, "Assistant: ", h("code", {}, codes.assistant), h("br"), "Viewer: ", h("code", {}, codes.viewer)), h("label", { for: "csv" }, "The club's players (CSV with number and name)"), upload, doing("Load", async () => { if (!upload.files[0]) return; const found = await api("/players", { token: D.token, raw: await upload.files[0].arrayBuffer(), type: "text/csv" }); openPanel("Players", h("p", { class: "note good" }, `${found.players} players.`)); })) : "",
  ];
}
