// Rulings: made on a result, each with its effect before it counts; the list of them with appeals and undo; fouled boards;
// how the event is scored; matches of teams; guests who turn out to be members.
import { button, h, newestOnly, said, t } from "./base.js";
import { effectOf, openPlay, signature, signatureFields } from "./desk-board.js";
import { act, addCard, addPlayForm, addView, again, closePanel, D, doing, field, get, letters, may, number, openPanel, post, previewOf, value } from "./desk.js";

const typed = (more = {}) => h("input", { autocomplete: "off", ...more });
const notes = (found) => (found.notes || []).map((words) => h("p", { class: "note warn" }, said(words)));

// A form that shows what it would do before it can be done: `name` of the act, its body, what follows.
function decided(box, name, body, label, then) {
  const [sure, trouble] = doing(label, async () => { await act(name, body()); await then(); }, "primary", { id: "confirmruling", disabled: true });
  const { place, look } = previewOf(box, () => post(`/actions/${name}/preview`, { actor: D.actor || D.data.role, ...body() }), (found) => {
    sure.disabled = false;
    return [...proposal(found), ...notes(found), effectOf(found)];
  }, () => { sure.disabled = true; });
  return [h("p", { class: "row" }, doing(t("desk.preview"), look, "", { id: "previewruling" }), sure, trouble), place];
}

function proposal(found) {
  if (!found.proposal?.length) return [];
  return [h("table", {}, h("thead", {}, h("tr", {}, ["round-label", "NS", "EW", "desk.form"].map((x) => h("th", {}, t(x))))), h("tbody", {}, found.proposal.map((p) => h("tr", {}, h("td", {}, p.round), h("td", {}, p.ns), h("td", {}, p.ew), h("td", {}, p.form || t("desk.as-dealt"), p.uncertain ? ` (${t("desk.not-certain")})` : "")))))];
}

// What every ruling says of itself, and who made it. The reason is the note of the signature.
const lawFields = (replaces) => [field("r_law", t("desk.law"), typed({ placeholder: "12C1(c)", maxlength: 20 })), field("r_replaces", t("desk.replaces"), number("r_replaces", { value: replaces || "" })), h("label", {}, h("input", { type: "checkbox", id: "r_committee" }), ` ${t("desk.committee")}`), h("label", {}, h("input", { type: "checkbox", id: "r_propose" }), ` ${t("desk.only-proposed")}`)];
function lawOf(box) {
  const { note, ...who } = signature(box), law = box.querySelector("#r_law").value.trim(), replaces = Number(box.querySelector("#r_replaces").value);
  return { ...who, reason: note || "", ...(law ? { law } : {}), ...(replaces ? { replaces } : {}), ...(box.querySelector("#r_committee").checked ? { authority: "committee" } : {}), ...(box.querySelector("#r_propose").checked ? { propose: true } : {}) };
}

const key = (p) => ({ section: p.section, board: p.board, ns: p.ns, ew: p.ew, play: p.play || 1 });
const SCORES = { score: ["r_score"], split: ["r_score_ns", "r_score_ew"], stands: [], none: [] };

function rulingForm(p, view, anew) {
  const kind = h("select", {}, Object.keys(SCORES).map((x) => h("option", { value: x }, t(`desk.ruling-${x}`)))), inputs = h("div", { class: "fields" }), box = h("div", { class: "card" });
  const like = { placeholder: "60% +420, 40% -50", list: "averages" };
  const fill = () => inputs.replaceChildren(...SCORES[kind.value].map((id) => field(id, t({ r_score: "score", r_score_ns: "NS", r_score_ew: "EW" }[id]), typed(like), "broad")));
  const standing = (view.rulings || []).find((r) => r.counts && !r.forms.length);
  const body = () => {
    const given = { score: () => ({ score: value("r_score").trim() }), split: () => ({ score_ns: value("r_score_ns").trim(), score_ew: value("r_score_ew").trim() }), stands: () => ({ stands: true }), none: () => ({ score: "not played" }) }[kind.value]();
    return { ...key(p), seen: view.changes, ...given, ...lawOf(box) };
  };
  kind.addEventListener("change", fill);
  fill();
  box.append(h("h3", {}, t("desk.form-ruling")), h("p", { class: "soft small" }, t("desk.ruling-help")), h("div", { class: "fields" }, field("r_kind", t("desk.ruling-what"), kind, "broad")), inputs, h("datalist", { id: "averages" }, ["AVE+", "AVE", "AVE-", "AVE+/AVE-", "AVE-/AVE+"].map((v) => h("option", { value: v }))),
    h("div", { class: "fields" }, lawFields(standing?.ruling), signatureFields()), ...decided(box, "ruling", body, t("desk.confirm-ruling"), anew).flat(9));
  setTimeout(() => box.querySelector("select")?.focus());
  return box;
}

addPlayForm("ruling", { label: "desk.form-ruling", role: "director", make: rulingForm });

// --- the list ----------------------------------------------------------------------------------------------------

async function rulingsView() {
  const found = await get("/rulings"), matches = await get("/matches");
  return [h("section", { class: "card" }, h("h2", { tabindex: "-1" }, t("desk.view-rulings")), h("p", {}, periods(found)),
    found.rulings.length ? h("ul", { class: "plain" }, found.rulings.map(rulingLine)) : h("p", { class: "soft" }, t("desk.no-rulings"))),
  may("director") ? forms() : "", matches.length ? matchesCard(matches) : ""];
}

// One form at a time, so that each of its fields has a name of its own on the page.
function forms() {
  const opening = newestOnly(), place = h("div", {}), open = { fouled: fouledCard, "scoring-now": async () => scoringCard(await get("/scoring")) };
  return h("section", { class: "card" }, h("div", { class: "tabs" }, Object.entries(open).map(([name, make]) => doing(t(`desk.${name}`), async () => {
    const mine = opening(), made = await make();
    if (mine()) place.replaceChildren(made);
  }, "", { "data-form": name }))), place);
}

const periods = (found) => [h("span", { class: "tag" }, `${t("desk.corrections")}: ${t(`period.${found.correction}`)}`), " ", h("span", { class: "tag" }, `${t("desk.appeals")}: ${t(`period.${found.appeals}`)}`), " ", found.rulings.some((r) => r.state === "appealed") ? h("span", { class: "tag warn" }, t("desk.provisional")) : ""];

function rulingLine(r) {
  const kind = { proposed: "warn", appealed: "warn", confirmed: "good", upheld: "good" }[r.state] || "";
  const last = r.steps[r.steps.length - 1], tools = [];
  if (may("director")) {
    if (["proposed", "appealed"].includes(r.state)) tools.push(button(t(r.state === "proposed" ? "desk.confirm-ruling" : "desk.appeal-withdrawn"), () => stepForm(r, "ruling-confirm", r.state === "proposed" ? "desk.confirm-ruling" : "desk.appeal-withdrawn")));
    if (["proposed", "confirmed"].includes(r.state)) tools.push(button(t("desk.withdraw"), () => stepForm(r, "ruling-withdraw", "desk.withdraw")));
    if (r.state === "confirmed") tools.push(button(t("desk.appeal"), () => appealForm(r)));
    if (r.state === "appealed") tools.push(...doing(t("desk.uphold"), async () => { await act("ruling-uphold", { ruling: r.ruling }); await again("rulings"); }));
    if (r.play && !r.hidden) tools.push(button(t("desk.open"), () => openPlay(r.play)));
    if (last) tools.push(...doing(t("desk.take-back"), async () => { await act("undo", { action: last.action, ...second() }); await again("rulings"); }, "", { "data-undo-ruling": r.ruling }));
  }
  return h("li", { class: "row", "data-ruling": r.ruling }, h("span", { class: r.counts || r.state === "proposed" ? "grow" : "grow soft struck" }, h("strong", {}, `${r.ruling}. `), h("span", { class: `tag ${kind}` }, t(`ruling.${r.state}`)), " ", t("desk.law-n", { law: r.law }), ` ${authority(r)}`, h("span", {}, `: ${said(r.text)}`), ` ${r.reason}`,
    h("span", { class: "soft small" }, ` ${r.steps.map((s) => `${t(`ruling.${s.state}`)}: ${[s.by, s.second].filter(Boolean).join(" + ")}`).join(" · ")}`)), tools);
}
const authority = (r) => (r.authority === "committee" ? `(${t("desk.committee")})` : "");

// Once results are final somebody else must agree (Law 79C).
function second() {
  if (!D.data.event.final) return {};
  const name = prompt(t("desk.second-name"));
  return name ? { second: name } : {};
}

function stepForm(r, name, label) {
  const box = h("div", {});
  const body = () => { const { note, ...who } = signature(box); return { ruling: r.ruling, ...who, ...(note ? { reason: note } : {}) }; };
  box.append(h("div", { class: "fields" }, signatureFields()), ...decided(box, name, body, t(label), async () => { if (box.isConnected) closePanel(); await again("rulings"); }).flat(9));
  openPanel(`${t(label)}: ${r.ruling}`, h("p", {}, said(r.text)), box);
}

function appealForm(r) {
  const box = h("div", {}), agreed = h("input", { type: "checkbox", id: "a_agreed" });
  const send = async () => {
    const { note, ...who } = signature(box);
    await act("ruling-appeal", { ruling: r.ruling, section: value("a_section") || r.play?.section || letters()[0], pair: Number(value("a_pair")), agreed: agreed.checked, ...who, ...(note ? { reason: note } : {}) });
    if (box.isConnected) closePanel();
    await again("rulings");
  };
  box.append(h("div", { class: "fields" }, letters().length > 1 ? field("a_section", t("desk.section-label"), h("select", {}, letters().map((l) => h("option", {}, l)))) : "", field("a_pair", t("desk.contestant"), number("a_pair")), h("label", {}, agreed, ` ${t("desk.agreed")}`), signatureFields()), h("p", { class: "row" }, doing(t("desk.appeal"), send, "primary", { id: "sendappeal" })));
  openPanel(`${t("desk.appeal")}: ${r.ruling}`, h("p", {}, said(r.text)), box);
}

// --- fouled boards -----------------------------------------------------------------------------------------------

const MARKS = { none: "vulnerable.None", NS: "vulnerable.NS", EW: "vulnerable.EW", all: "vulnerable.All" };
function fouledCard() {
  const box = h("div", {}), how = h("select", {}, ["changes", "readings"].map((x) => h("option", { value: x }, t(`desk.fouled-${x}`)))), inputs = h("div", { class: "fields" });
  const fill = () => inputs.replaceChildren(...(how.value === "changes" ? [field("f_round", t("desk.from-round"), number("f_round", { value: 2 })), field("f_form", t("desk.form"), typed({ value: "B", maxlength: 8 }))] : [field("f_readings", t("desk.readings"), typed({ placeholder: "2 same, 4 different" }))]));
  const body = () => {
    const at = { section: value("f_section") || letters()[0], copy: Number(value("f_copy")) || 1 }, asked = lawOf(box);
    const readings = () => value("f_readings").split(",").filter((x) => x.trim()).map((x) => { const [round, word] = x.trim().split(/\s+/); return { ...at, after_round: Number(round), same: word === "same" }; });
    return { board: Number(value("f_board")), ...(value("f_marked") ? { vulnerable: value("f_marked") } : {}), ...(how.value === "changes" ? { changes: [{ ...at, from_round: Number(value("f_round")), form: value("f_form") }] } : { readings: readings() }), ...asked };
  };
  how.addEventListener("change", fill);
  fill();
  box.append(h("h2", {}, t("desk.fouled")), h("p", { class: "soft small" }, t("desk.fouled-help")), h("div", { class: "fields" }, letters().length > 1 ? field("f_section", t("desk.section-label"), h("select", {}, letters().map((l) => h("option", {}, l)))) : "", field("f_board", t("desk.board-number"), number("f_board")), field("f_copy", t("desk.copy"), number("f_copy", { value: 1 })), field("f_how", t("desk.known-by"), how), field("f_marked", t("desk.marked"), h("select", {}, h("option", { value: "" }, t("desk.as-number")), Object.entries(MARKS).map(([v, key]) => h("option", { value: v }, t(key)))))), inputs, h("div", { class: "fields" }, lawFields(), signatureFields()), ...decided(box, "fouled", body, t("desk.confirm-ruling"), () => again("rulings")).flat(9));
  return box;
}

// --- scoring, matches, guests ------------------------------------------------------------------------------------

function scoringCard(now) {
  const box = h("div", {}), several = letters().length > 1;
  const pick = (id, label, values, chosen, words) => field(id, label, h("select", {}, values.map((v) => h("option", { value: v, selected: v === chosen }, words(v)))), "broad");
  const method = now.method === "usual" ? "" : now.method;
  const body = () => {
    const who = signature(box), carried = Object.fromEntries(value("sc_carried").split(/[\s;]+/).filter(Boolean).map((x) => x.split("=")));
    const out = { method: value("sc_method"), scale: value("sc_scale"), knockout: box.querySelector("#sc_knockout").checked, carried, actor: who.actor, ...(who.second ? { second: who.second } : {}) };
    if (value("sc_profile").trim() && value("sc_profile").trim() !== now.profile.name) out.profile = value("sc_profile").trim();
    return several ? { ...out, across: box.querySelector("#sc_across").checked } : out;
  };
  const scales = now.scale === "table" ? [...now.scales, "table"] : now.scales;
  box.append(h("h2", {}, t("desk.scoring-now")), h("p", { class: "soft small" }, t("desk.scoring-help")), h("div", { class: "fields" },
    pick("sc_method", t("desk.scoring-method"), ["", ...now.methods], method, (v) => t(v ? `method.${v}` : "method.usual")), pick("sc_scale", t("desk.scale"), scales, now.scale, (v) => t(`desk.scale-${v}`)),
    field("sc_profile", t("desk.profile"), typed({ value: now.profile.name, maxlength: 40 })), field("sc_carried", t("desk.carried"), typed({ value: Object.entries(now.carried).map((x) => x.join("=")).join(" "), placeholder: "A3=12.5" })),
    h("label", {}, h("input", { type: "checkbox", id: "sc_knockout", checked: now.knockout }), ` ${t("desk.knockout")}`), several ? h("label", {}, h("input", { type: "checkbox", id: "sc_across", checked: now.across }), ` ${t("setting.across")}`) : "", signatureFields()),
  ...decided(box, "scoring", body, t("desk.score-so"), () => again("rulings")).flat(9));
  return box;
}

function matchesCard(matches) {
  const many = letters().length > 1, team = (m, side) => `${many ? m.section : ""}${m[side]} ${m[`${side}_names`]}`;
  return h("section", { class: "card" }, h("h2", {}, t("desk.matches")), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("desk.matches") }, h("table", {}, h("thead", {}, h("tr", {}, ["desk.match", "desk.team-home", "desk.team-away", "boards", "score", "desk.scale"].map((x) => h("th", {}, t(x))))),
    h("tbody", {}, matches.map((m) => h("tr", {}, h("td", { class: "n" }, m.match), h("td", {}, team(m, "home")), h("td", {}, team(m, "away")), h("td", {}, `${m.compared}/${m.length}`), h("td", {}, m.home_score === null ? "" : `${m.home_score} : ${m.away_score}`), h("td", {}, m.home_vp === null ? "" : `${m.home_vp} : ${m.away_vp}`)))))));
}

addView("rulings", { label: "desk.view-rulings", make: rulingsView });

addCard("end", { role: "director", make: () => {
  const done = h("p", { class: "note good", role: "status", hidden: true });
  const merge = async () => {
    const found = await act("merge-guest", { guest: value("g_guest").trim(), member: Number(value("g_member")) });
    done.textContent = t("desk.merged", { count: found.places, name: found.name });
    done.hidden = false;
  };
  return h("section", { class: "card" }, h("h2", {}, t("desk.guest-member")), h("p", { class: "soft small" }, t("desk.guest-help")), h("div", { class: "fields" }, field("g_guest", t("desk.guest-name"), typed({ maxlength: 80 })), field("g_member", t("desk.member-number"), number("g_member"))), h("p", { class: "row" }, doing(t("desk.merge"), merge)), done);
} });
