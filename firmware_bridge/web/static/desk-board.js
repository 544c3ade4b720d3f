// Boards, travellers, and everything that can be done to one result: forms with a preview, audit trail, undo.
import { button, contractText, h, signed, store, t, told } from "./base.js";
import { distribution } from "./charts.js";
import { D, act, closePanel, doing, field, get, letters, may, openPanel, playForms, post, previewOf, problem, say, show, stateTag } from "./desk.js";

export async function boardsView() {
  const section = letters().includes(D.section) ? D.section : letters()[0], of = D.data.event.sections.find((s) => s.letter === section);
  const board = of.boards?.includes(D.board) ? D.board : of.boards?.[0];
  if (!board) return h("p", {}, t("desk.no-boards"));
  const view = await get(`/boards/${section}/${board}`);
  const redraw = () => show("boards");
  const lines = view.lines, hidden = lines.some((l) => l.hidden);
  return [
    letters().length > 1 ? h("div", { class: "tabs" }, letters().map((l) => button(t("desk.section", { section: l }), () => { D.section = l; D.board = null; redraw(); }, "", { "aria-pressed": String(l === section) }))) : "",
    h("div", { class: "numbers card", role: "group", "aria-label": t("boards") }, of.boards.map((b) => button(b, () => { D.board = b; redraw(); }, "", { "aria-pressed": String(b === board), "aria-label": t("board", { board: b }) }))),
    h("div", { class: "two" },
      h("section", { class: "card" }, h("h2", { tabindex: "-1" }, t("board", { board }), h("span", { class: "soft small" }, " ", t("dealer-vulnerable", { dealer: view.dealer, vulnerable: told("vulnerable", view.vulnerable, view.vulnerable) }))),
        hidden ? h("div", { class: "note warn" }, t("desk.yet-to-play"), " ", may("director") ? doing(t("desk.reveal"), async () => { if (confirm(t("desk.reveal-sure"))) { await act("reveal", { section, board }); redraw(); } }) : "") : "",
        h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("desk.traveller") }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { class: "n" }, "NS"), h("th", { class: "n" }, "EW"), h("th", {}, t("contract")), h("th", {}, t("desk.lead")), h("th", { class: "n" }, t("score")), h("th", { class: "n" }, t("ns-percent")), h("th", {}, t("desk.state")), h("th", {}, h("span", { class: "hidden-label" }, t("desk.open"))))),
          h("tbody", {}, lines.map((l) => h("tr", { class: "click", onclick: () => openPlay(l) }, h("td", { class: "n" }, l.ns), h("td", { class: "n" }, l.ew), h("td", {}, l.hidden ? h("span", { class: "soft" }, t("desk.veiled")) : contractText(l.text)), h("td", {}, l.lead || ""), h("td", { class: "n" }, signed(l.score)), h("td", { class: "n" }, l.percent ?? ""), h("td", {}, stateTag(l.state)),
            h("td", {}, button(t("desk.open"), (e) => { e.stopPropagation(); openPlay(l); }, "small", { "aria-label": `${t("desk.open")}: ${t("pairs-line", { ns: l.ns, ew: l.ew })}` })))))))),
      h("section", { class: "card" }, h("h2", {}, t("chart.scores")), hidden ? h("p", { class: "soft" }, t("desk.veiled")) : distribution(lines))),
  ];
}

const key = (p) => ({ section: p.section, board: p.board, ns: p.ns, ew: p.ew, play: p.play || 1 });

// The result that the panel shows, and whether it still does: after an act it is shown anew, unless it was closed or left.
let showing = { of: "", still: () => false };

export async function openPlay(p) {
  const of = JSON.stringify(key(p)), mine = openPanel("…", h("p", { class: "soft" }, t("loading")));
  showing = { of, still: mine };
  let view, recorded = "";
  try {
    view = await get(`/play?${new URLSearchParams(key(p))}`);
    if (!view.hidden && (D.data.event.settings.auction || D.data.event.settings.play)) recorded = await recordedPart(p);
  } catch (error) { if (mine()) openPanel(t("desk.result"), problem(error)); return; }
  if (!mine()) return;
  const title = `${t("board", { board: p.board })}: ${t("pairs-line", { ns: p.ns, ew: p.ew })}`;
  if (view.hidden) { openPanel(title, h("p", { class: "note warn" }, t("desk.veiled-help"))); return; }
  const place = h("div", {}), codes = view.codes || { attention: [], warnings: [] };
  const offered = [...Object.entries(FORMS).map(([name, form]) => [name, { ...form, make: () => ruling(name, p, view, anew) }]), ...Object.entries(playForms)].filter(([, form]) => may(form.role || "assistant") && (!form.when || form.when(view)));
  const anew = () => showing.of === of && showing.still() && openPlay(p);
  const still = openPanel(title,
    h("p", { class: "row" }, h("strong", {}, view.text ? contractText(view.text) : t("desk.no-result")), stateTag(view.status)),
    view.attention.map((words, i) => h("p", { class: "note bad" }, told("attention", codes.attention[i], words))), view.warnings.map((words, i) => h("p", { class: "note warn" }, told("warning", codes.warnings[i], words))),
    view.claims.length > 1 || view.attention.length ? h("section", {}, h("h3", {}, t("desk.claims")), h("ul", {}, view.claims.map((c) => h("li", { class: "row" }, h("span", { class: "grow" }, t("table", { place: c.table }), ": ", c.text === "erased" ? t("desk.erased") : contractText(c.text), c.confirmed ? ` (${t("desk.accepted")})` : ""), may("assistant") ? doing(t("desk.this-one"), async () => { await act("choose", { ...key(p), claim: c.claim, seen: view.changes }); anew(); }) : ""))), may("assistant") ? doing(t("desk.right-as-is"), async () => { await act("leave", { ...key(p), seen: view.changes }); anew(); }) : "") : "",
    view.claims.length < 2 && !view.attention.length && codes.warnings.includes("not-in-movement") && may("assistant") ? doing(t("desk.right-as-is"), async () => { await act("leave", { ...key(p), seen: view.changes }); anew(); }) : "",
    recorded,
    offered.length ? h("div", { class: "tabs" }, offered.map(([name, form]) => button(t(form.label), () => place.replaceChildren(form.make(p, view, anew)), "", { "data-form": name }))) : "", place,
    h("h3", {}, t("desk.what-happened")), h("ol", { class: "trail" }, view.events.map((e) => h("li", {}, h("strong", {}, told("event", e.kind, e.kind)), " ", contractText(e.text), " ", h("span", { class: "soft small" }, [e.actor, e.second, e.note, e.confirmed ? t("desk.accepted") : "", (e.wall || "").replace("T", " ").slice(0, 19)].filter(Boolean).join(" · ")), e.action && view.actions.includes(e.action) && e.kind !== "undone" && may("assistant") ? doing(t("desk.undo"), async () => { await act("undo", { action: e.action }); anew(); }, "plain") : ""))));
  showing = { of, still };
}

// Auction and play, where tables record them.
async function recordedPart(p) {
  if (!may("assistant")) return "";
  const found = await get(`/recorded?${new URLSearchParams(key(p))}`), seats = [..."NESW"];
  const call = (one) => [/^[1-7]/.test(one.call) ? contractText(one.call) : told("call", one.call, one.call), one.alerted ? "!" : "", one.standing === "made" ? "" : ` (${one.standing})`];
  const rows = [];
  if (found.auction) [...Array(seats.indexOf(found.dealer)).fill(null), ...found.auction].forEach((one, at) => { if (at % 4 === 0) rows.push([]); rows.at(-1).push(h("td", {}, one ? call(one) : "")); });
  return [found.causes.map((code) => h("p", { class: "note warn" }, told("cause", code, code))),
    found.auction ? [h("h3", {}, t("auction")), h("table", { class: "auction" }, h("thead", {}, h("tr", {}, seats.map((c) => h("th", {}, c)))), h("tbody", {}, rows.map((row) => h("tr", {}, row))))] : "",
    found.play ? [h("h3", {}, t("play")), h("ol", { class: "small" }, found.play.map((trick) => h("li", {}, trick.map((one) => `${one.seat} ${one.card}`).join("  "))))] : "", found.withheld ? h("p", { class: "soft" }, t("desk.play-later")) : ""];
}

const text = (more = {}) => h("input", { autocomplete: "off", ...more });
const FORMS = {
  correct: { label: "desk.form-correct", fields: () => [field("contract", t("contract"), text({ placeholder: t("desk.contract-like") })), field("declarer", t("declarer"), h("select", {}, ["N", "E", "S", "W"].map((s) => h("option", { value: s }, t(`seat-${s}`))))), field("tricks", t("desk.result"), text({ placeholder: "=, +1, -2" }))], names: ["contract", "declarer", "tricks"] },
  move: { label: "desk.form-move", fields: () => [field("to_board", t("desk.to-board"), text({ type: "number", min: 1 })), field("to_ns", t("desk.to-ns"), text({ type: "number", min: 1 })), field("to_ew", t("desk.to-ew"), text({ type: "number", min: 1 }))], names: ["to_board", "to_ns", "to_ew"] },
  swap: { label: "desk.form-swap", fields: () => [h("p", {}, t("desk.swap-help"))], names: [] },
  "not-played": { label: "not-played", fields: () => [field("reason", t("desk.why"), h("select", {}, ["no-time", "late-pair", "cancelled", "withdrawn", "other"].map((r) => h("option", { value: r }, t(`reason.${r}`)))))], names: ["reason"] },
  erase: { label: "erase", fields: () => [h("p", {}, t("desk.erase-help"))], names: [] },
};

function ruling(name, p, view, anew) {
  const { label, fields, names } = FORMS[name], box = h("div", { class: "card" });
  const body = () => {
    const out = { ...key(p), seen: view.changes };
    for (const n of names) {
      const given = box.querySelector(`#${n}`).value.trim();
      if (given !== "") out[n] = n.startsWith("to_") ? Number(given) : given;
    }
    return { ...out, ...signature(box) };
  };
  const { place, look } = previewOf(box, () => post(`/actions/${name}/preview`, body()), effectOf);
  box.append(h("h3", {}, t(label)), h("div", { class: "fields" }, fields(), signatureFields()),
    h("p", { class: "row" }, doing(t("desk.preview"), look), doing(t(label), async () => { const done = await act(name, body()); if (done.unscheduled) say(stray(done.unscheduled)); if (name !== "move" && name !== "swap") anew(); else if (box.isConnected) closePanel(); }, "primary", { id: "doit" })), place);
  setTimeout(() => box.querySelector("input, select")?.focus());
  return box;
}

// Who decides, and why; for every form that changes a result. signature(box) gives what was filled in.
export const signatureFields = () => [field("actor", t("desk.your-name"), text({ value: D.actor, maxlength: 40 })), D.data.event.final ? field("second", t("desk.second-name"), text({ maxlength: 40 })) : "", field("note", t("desk.reason"), text({ maxlength: 300 }), "broad")];
export function signature(box) {
  D.actor = box.querySelector("#actor").value.trim();
  store("actor", D.actor);
  const second = box.querySelector("#second")?.value.trim(), note = box.querySelector("#note").value.trim();
  return { actor: D.actor || D.data.role, ...(second ? { second } : {}), ...(note ? { note } : {}) };
}

// Two pairs that by the movement do not meet on this board, and where each of them should be.
function stray({ board, reversed, due }) {
  if (reversed) return t("desk.other-way-round", { board });
  return [t("desk.not-scheduled", { board }), ...due.map((one) => t(one.round ? "desk.due" : "desk.not-due", one))].join(" ");
}

// What an act would do to the ranking, from its preview.
export function effectOf(found) {
  const side = (x) => (x ? `${x.place} · ${x.value}` : "–");
  return [found.unscheduled ? h("p", { class: "note warn" }, stray(found.unscheduled)) : "", found.changes.length ? h("table", {}, h("thead", {}, h("tr", {}, ["desk.contestant", "desk.before", "desk.after"].map((x) => h("th", {}, t(x))))), h("tbody", {}, found.changes.map((c) => h("tr", {}, h("td", {}, `${c.section}${c.pair}`), h("td", {}, side(c.before)), h("td", {}, side(c.after)))))) : h("p", { class: "note" }, t("desk.ranking-stays"))];
}
