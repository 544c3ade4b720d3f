// What changes in mid-session: the round clock, the plan (with a preview, and a list from which each is taken back),
// penalties, settings.
import { button, h, hasWords, said, t, told } from "./base.js";
import { act, again, D, doing, field, get, letters, may, messageForm, number, plans, post, previewOf, value } from "./desk.js";

const rounds = (section) => D.data.event.sections.find((s) => s.letter === section)?.rounds || 1;
const round = (id, section, start) => number(id, { max: rounds(section), value: start });
const list = (text) => text.split(/[\s,]+/).filter(Boolean).flatMap((part) => {
  const [from, to] = part.split("-").map(Number);
  return to ? Array.from({ length: Math.max(0, Math.min(to - from + 1, 99)) }, (_, i) => from + i) : [from];
});
const verdictField = () => field("p_verdict", t("desk.verdict"), h("select", {}, ["none", "average", "provisional"].map((v) => h("option", { value: v }, t(`desk.verdict-${v}`)))));
const verdict = () => ({ none: {}, average: { state: "artificial", ns: 50, ew: 50 }, provisional: { provisional: true } })[value("p_verdict")];
const boardsField = (key) => field("p_boards", t(key), h("input", { placeholder: "7-9", autocomplete: "off" }));

const KINDS = {
  unstarted: { fields: (s) => [field("p_round", t("round-label"), round("p_round", s, 1)), field("p_table", t("desk.table"), number("p_table", { value: 1 })), boardsField("desk.boards-not-started"), verdictField()], event: () => ({ round: Number(value("p_round")), table: Number(value("p_table")), boards: list(value("p_boards")), verdict: verdict() }) },
  renumbered: { fields: (s) => [field("p_pair", t("desk.contestant"), number("p_pair", { value: 1 })), field("p_number", t("desk.new-number"), number("p_number", { value: 99 })), field("p_from", t("desk.from-round"), round("p_from", s, 1))], event: () => ({ pair: Number(value("p_pair")), number: Number(value("p_number")), round: Number(value("p_from")) }) },
  "stand-by": { fields: (s) => [field("p_new", t("desk.new-pair"), number("p_new", { value: 99 })), field("p_for", t("desk.instead-of"), number("p_for", { value: 1 })), field("p_since", t("desk.from-round"), round("p_since", s, 1))], event: () => ({ pair: Number(value("p_new")), instead_of: Number(value("p_for")), round: Number(value("p_since")) }) },
  substituted: { fields: (s) => [field("p_pair", t("desk.contestant"), number("p_pair", { value: 1 })), field("p_player", t("desk.player-out"), h("input", { maxlength: 80 })), field("p_substitute", t("desk.player-in"), h("input", { maxlength: 80 })), field("p_from", t("desk.from-round"), round("p_from", s, 1))], event: () => ({ pair: Number(value("p_pair")), player: value("p_player"), substitute: value("p_substitute"), round: Number(value("p_from")) }) },
  withdrawn: { fields: (s) => [field("p_pair", t("desk.contestant"), number("p_pair", { value: 1 })), field("p_from", t("desk.from-round"), round("p_from", s, 2))], event: () => ({ pair: Number(value("p_pair")), round: Number(value("p_from")) }) },
  curtailed: { fields: (s) => [field("p_after", t("desk.last-round"), round("p_after", s, Math.max(1, rounds(s) - 1)))], event: () => ({ after_round: Number(value("p_after")) }) },
};
// The order in which changes are offered; those of other modules that are not named here come last.
const ORDER = ["late-pair", "unstarted", "played-as", "renumbered", "stand-by", "substituted", "withdrawn", "curtailed"];
const place = (kind) => (ORDER.includes(kind) ? ORDER.indexOf(kind) : ORDER.length);
const kindWords = (kind) => t(plans[kind]?.label || `plan.${kind}`);

export async function planView() {
  const e = D.data.event, kept = await get("/plan");
  return [clockCard(e), changeCard(kept), may("director") ? penaltyCard(e) : "", may("director") ? h("section", { class: "card" }, h("h2", {}, t("desk.settings")), settingsForm(e)) : ""];
}

function clockCard(e) {
  const c = e.clock || {}, s = e.sections[0];
  return h("section", { class: "card" }, h("h2", { tabindex: "-1" }, t("desk.round-clock")), h("div", { class: "fields" }, field("c_round", t("round-label"), number("c_round", { value: (c.round || 0) + 1 })), field("c_minutes", t("desk.minutes"), number("c_minutes", { value: c.minutes || (s.boards_per_round || 2) * 7 + 2 }))), h("p", { class: "row" },
    may("assistant") ? [doing(t("desk.start-clock"), () => act("clock", { round: Number(value("c_round")), minutes: Number(value("c_minutes")) }), "primary"), button(t("desk.message-all"), () => messageForm(null)), doing(t("desk.close-round"), closeRound)] : ""));
}

async function closeRound() {
  const round = Number(value("c_round"));
  for (const section of letters()) {
    try { await act("close-round", { section, round }); } catch (error) {
      if (error.code !== "boards-missing" || !confirm(`${error.message}\n\n${t("desk.close-anyway")}`)) throw error;
      await act("close-round", { section, round, anyway: true });
    }
  }
}

// --- the plan ----------------------------------------------------------------------------------------------------

function changeCard(kept) {
  const form = h("div", {}), kinds = { ...KINDS, ...plans }, made = kept.sections.flatMap((s) => s.events.map((x) => ({ ...x, section: s.section }))).filter((x) => x.kind !== "undone");
  const open = (kind) => form.replaceChildren(planForm(kind, kinds[kind]));
  return h("section", { class: "card" }, h("h2", {}, t("desk.change-of-plan")),
    may("assistant") ? h("div", { class: "tabs" }, Object.keys(kinds).sort((a, b) => place(a) - place(b)).map((kind) => button(kindWords(kind), () => open(kind), "", { "data-plan": kind }))) : "", form,
    (kept.warnings || []).map((words) => h("p", { class: "note warn" }, said(words))),
    made.length ? [h("h3", {}, t("desk.changes-so-far")), h("ul", { class: "plain" }, made.map((x) => h("li", { class: "row" }, h("span", { class: x.undone ? "grow soft struck" : "grow" }, letters().length > 1 ? `${x.section}: ` : "", h("span", {}, said(x.words)), h("span", { class: "soft small" }, ` ${x.actor}`)),
      x.undone ? h("span", { class: "tag" }, t("desk.taken-back")) : may("director") ? doing(t("desk.take-back"), () => takeBack(x), "", { "data-undo": `${x.section}${x.position}` }) : "")))] : "");
}

async function takeBack(x) {
  const body = { section: x.section, position: x.position };
  const found = await post("/plan/undo/preview", body), words = [...(found.problems || []), ...(found.changes || []).slice(0, 12)].map(said).join("\n");
  if (!confirm(`${t("desk.take-back-sure", { what: kindWords(x.kind) })}\n\n${words}`)) return;
  await post("/plan/undo", { ...body, actor: D.actor, seen: found.version });
  await again("plan");
}

function planForm(kind, { fields, event }) {
  const box = h("div", { class: "card" }), inputs = h("div", { class: "fields" }), section = h("select", { onchange: () => fill() }, letters().map((l) => h("option", {}, l)));
  const fill = () => inputs.replaceChildren(...[letters().length > 1 ? field("p_section", t("desk.section-label"), section) : "", fields(section.value)].flat(9).filter(Boolean));
  const body = () => ({ section: section.value, event: { kind, ...event() }, actor: D.actor });
  fill();
  const { place, look, seen } = previewOf(box, () => post("/plan/preview", body()), (found) => [
    h("div", { class: `note ${found.ok ? "good" : "bad"}` }, found.ok ? t("desk.nobody-twice") : found.problems.map(said).join(" ")), found.results_before === undefined ? "" : h("p", {}, t("desk.results-then", { before: found.results_before, after: found.results_after })), h("ul", {}, [...(found.shares || []), ...found.changes].slice(0, 60).map((c) => h("li", {}, said(c))))]);
  // What was looked at is changed, or nothing: the service refuses it when the plan is another one by now.
  const change = async () => { await post("/plan/change", { ...body(), ...(seen() ? { seen: seen().version } : {}) }); await again("plan"); };
  setTimeout(() => inputs.querySelector("input, select")?.focus());
  box.append(...[h("h3", {}, kindWords(kind)), hasWords(`plan-help.${kind}`) ? h("p", { class: "soft" }, t(`plan-help.${kind}`)) : "", inputs,
    h("p", { class: "row" }, doing(t("desk.preview"), look, "", { id: "planpreview" }), may("director") ? doing(kindWords(kind), change, "primary", { id: "planchange" }) : ""), place].filter(Boolean));
  return box;
}

// --- penalties, settings -----------------------------------------------------------------------------------------

function penaltyCard(e) {
  const give = async () => { await act("penalty", { section: letters().length > 1 ? value("pen_section") : letters()[0], pair: Number(value("pen_pair")), amount: value("pen_amount"), unit: value("pen_unit"), reason: value("pen_reason") }); await again("plan"); };
  return h("section", { class: "card" }, h("h2", {}, t("desk.penalties")),
    h("ul", { class: "plain" }, e.penalties.map((p) => h("li", { class: "row" }, h("span", { class: "grow" }, `${p.section}${p.pair}: ${p.amount} ${told("unit", p.unit, p.unit)} ${p.reason}`, h("span", { class: "soft" }, ` ${p.actor}`)), doing(t("desk.take-back"), async () => { await act("penalty", { undo: p.number }); await again("plan"); })))),
    h("div", { class: "fields" }, letters().length > 1 ? field("pen_section", t("desk.section-label"), h("select", {}, letters().map((l) => h("option", {}, l)))) : "", field("pen_pair", t("desk.contestant"), number("pen_pair")), field("pen_amount", t("desk.amount"), h("input", { value: "-1/4" })), field("pen_unit", t("desk.unit"), h("select", {}, ["top", "percent", "matchpoints", "imps", "points", "vps"].map((v) => h("option", { value: v }, t(`unit.${v}`))))), field("pen_reason", t("desk.reason"), h("input", { maxlength: 200 }))),
    h("p", { class: "row" }, doing(t("desk.give-it"), give)));
}

function settingsForm(e) {
  const names = Object.keys(e.settings).filter((name) => typeof e.settings[name] === "boolean" && hasWords(`setting.${name}`));
  const listed = { playing_director: h("input", { value: e.settings.playing_director.join(" "), maxlength: 20, id: "s_pair" }), ...(e.sections.length > 1 ? { fields: h("input", { value: e.settings.fields.join(" "), maxlength: 200, id: "s_fields" }) } : {}) };
  // Only what was changed here: another desk may have changed the rest meanwhile.
  const keep = async () => {
    const wanted = { ...Object.fromEntries(names.map((n) => [n, document.getElementById(`s_${n}`).checked])), ...Object.fromEntries(Object.entries(listed).map(([n, input]) => [n, input.value.toUpperCase().split(/[\s,]+/).filter(Boolean)])) };
    const settings = Object.fromEntries(Object.entries(wanted).filter(([n, v]) => String(v) !== String(e.settings[n])));
    const live = document.getElementById("s_live").checked;
    if (Object.keys(settings).length) await act("settings", { settings });
    if (live !== e.live) await act("live", { on: live });
    await again("plan");
  };
  return [h("div", { class: "boxes" }, names.map((name) => h("label", {}, h("input", { type: "checkbox", id: `s_${name}`, checked: e.settings[name] }), ` ${t(`setting.${name}`)}`)), h("label", {}, h("input", { type: "checkbox", id: "s_live", checked: e.live }), ` ${t("setting.live")}`)),
    Object.entries(listed).map(([n, input]) => field(input.id, t(`setting.${n}`), input)), h("p", { class: "row" }, doing(t("desk.keep"), keep, "primary", { id: "keepsettings" }))];
}
