// Boards, travellers, and everything that can be done to one result: forms with a preview, audit trail, undo.
import { button, contractText, h, signed, store } from "./base.js";
import { distribution } from "./charts.js";
import { D, act, closePanel, doing, get, letters, may, openPanel, post, problem, show, stateTag } from "./desk.js";

export async function boardsView() {
  const section = D.section || letters()[0], of = D.data.event.sections.find((s) => s.letter === section);
  const board = D.board || of.boards?.[0];
  if (!board) return h("p", {}, "No boards yet.");
  const view = await get(`/boards/${section}/${board}`);
  const redraw = () => show("boards");
  const lines = view.lines, hidden = lines.some((l) => l.hidden);
  return [
    letters().length > 1 ? h("div", { class: "tabs" }, letters().map((l) => button(`Section ${l}`, () => { D.section = l; D.board = null; redraw(); }, "", { "aria-pressed": String(l === section) }))) : "",
    h("div", { class: "numbers card", role: "group", "aria-label": "Board" }, of.boards.map((b) => button(b, () => { D.board = b; redraw(); }, "", { "aria-pressed": String(b === board), "aria-label": `Board ${b}` }))),
    h("div", { class: "two" },
      h("section", { class: "card" }, h("h2", { tabindex: "-1" }, `Board ${board}`, h("span", { class: "soft small" }, ` dealer ${view.dealer}, vulnerable ${view.vulnerable}`)),
        hidden ? h("div", { class: "note warn" }, "You have yet to play this board. ", may("director") ? doing("Reveal it (on record)", async () => { if (confirm("Reveal this board? That is kept on record.")) { await act("reveal", { section, board }); redraw(); } }) : "") : "",
        h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { class: "n" }, "NS"), h("th", { class: "n" }, "EW"), h("th", {}, "Contract"), h("th", {}, "Lead"), h("th", { class: "n" }, "Score"), h("th", { class: "n" }, "NS %"), h("th", {}, "State"))),
          h("tbody", {}, lines.map((l) => h("tr", { class: "click", tabindex: "0", onclick: () => openPlay(l), onkeydown: (e) => { if (e.key === "Enter") openPlay(l); } }, h("td", { class: "n" }, l.ns), h("td", { class: "n" }, l.ew), h("td", {}, l.hidden ? h("span", { class: "soft" }, "veiled") : contractText(l.text)), h("td", {}, l.lead || ""), h("td", { class: "n" }, signed(l.score)), h("td", { class: "n" }, l.percent ?? ""), h("td", {}, stateTag(l.state))))))),
        lines.length ? "" : h("p", { class: "soft" }, "No result yet.")),
      h("section", { class: "card" }, h("h2", {}, "Scores"), hidden ? h("p", { class: "soft" }, "Veiled.") : distribution(lines))),
  ];
}

const key = (p) => ({ section: p.section, board: p.board, ns: p.ns, ew: p.ew, play: p.play || 1 });

export async function openPlay(p) {
  openPanel("…", h("p", { class: "soft" }, "Loading"));
  let view;
  try { view = await get(`/play?${new URLSearchParams(key(p))}`); } catch (error) { openPanel("Result", problem(error)); return; }
  const title = `Board ${p.board}: ${p.ns} against ${p.ew}`;
  if (view.hidden) { openPanel(title, h("p", { class: "note warn" }, "You have yet to play this board. Its result is veiled; it can be revealed on the page of the board, on record.")); return; }
  const form = h("div", {});
  openPanel(title,
    h("p", { class: "row" }, h("strong", {}, view.text ? contractText(view.text) : "no result"), stateTag(view.status)),
    view.attention.map((words) => h("p", { class: "note bad" }, words)), view.warnings.map((words) => h("p", { class: "note warn" }, words)),
    view.claims.length > 1 || view.attention.length ? h("section", {}, h("h3", {}, "What the tables say"), h("ul", {}, view.claims.map((c) => h("li", { class: "row" }, h("span", { class: "grow" }, `Table ${c.table}: `, contractText(c.text), c.confirmed ? " (accepted)" : ""), may("assistant") ? doing("This one is right", async () => { await act("choose", { ...key(p), claim: c.claim, seen: view.changes }); openPlay(p); }) : ""))), may("assistant") ? doing("Right as it is", async () => { await act("leave", { ...key(p), seen: view.changes }); openPlay(p); }) : "") : "",
    may("assistant") ? h("div", { class: "tabs" }, Object.entries(FORMS).map(([name, [label]]) => button(label, () => form.replaceChildren(ruling(name, p, view))))) : "", form,
    h("h3", {}, "What happened"), h("ol", { class: "trail" }, view.events.map((e) => h("li", {}, h("strong", {}, e.kind), " ", contractText(e.text), " ", h("span", { class: "soft small" }, [e.actor, e.second, e.note, e.confirmed ? "accepted by the other side" : "", (e.wall || "").replace("T", " ").slice(0, 19)].filter(Boolean).join(" · ")), e.action && view.actions.includes(e.action) && e.kind !== "undone" && may("assistant") ? doing("Undo", async () => { await act("undo", { action: e.action }); openPlay(p); }, "plain") : ""))));
}

const field = (id, label, element) => h("div", {}, h("label", { for: id }, label), Object.assign(element, { id }));
const FORMS = {
  correct: ["Correct", () => [field("contract", "Contract", h("input", { placeholder: "4SX or pass", autocomplete: "off" })), field("declarer", "Declarer", h("select", {}, ["N", "E", "S", "W"].map((s) => h("option", {}, s)))), field("tricks", "Result", h("input", { placeholder: "=, +1, -2", autocomplete: "off" }))], ["contract", "declarer", "tricks"]],
  weighted: ["Assigned score", () => [field("ns_outcomes", "North-South", h("input", { placeholder: "4S N = 60%, 4S N -1 40%", autocomplete: "off" })), field("ew_outcomes", "East-West (empty: the same)", h("input", { autocomplete: "off" }))], ["ns_outcomes", "ew_outcomes"]],
  artificial: ["Artificial score", () => ["ns_score", "ew_score"].map((id) => field(id, id === "ns_score" ? "North-South" : "East-West", h("input", { list: "averages", placeholder: "AVE+", autocomplete: "off" }))).concat(h("datalist", { id: "averages" }, ["AVE+", "AVE", "AVE-", "60", "50", "40"].map((v) => h("option", { value: v })))), ["ns_score", "ew_score"]],
  move: ["Move", () => [field("to_board", "To board", h("input", { type: "number", min: 1 })), field("to_ns", "NS pair (if another)", h("input", { type: "number", min: 1 })), field("to_ew", "EW pair (if another)", h("input", { type: "number", min: 1 }))], ["to_board", "to_ns", "to_ew"]],
  swap: ["Turn directions", () => [h("p", {}, "North-South and East-West sat the other way round.")], []],
  "not-played": ["Not played", () => [field("reason", "Why", h("select", {}, ["no-time", "late-pair", "cancelled", "withdrawn", "other"].map((r) => h("option", {}, r))))], ["reason"]],
  erase: ["Erase", () => [h("p", {}, "The board is missing again.")], []],
};

function ruling(name, p, view) {
  const [label, fields, names] = FORMS[name], op = name === "weighted" ? "correct" : name, effect = h("div", { "aria-live": "polite" }), box = h("div", { class: "card" });
  const body = () => {
    const out = { ...key(p), seen: view.changes };
    for (const n of names) {
      const value = box.querySelector(`#${n}`).value.trim();
      if (value !== "") out[n] = n.startsWith("to_") ? Number(value) : value;
    }
    D.actor = box.querySelector("#actor").value.trim();
    store("actor", D.actor);
    const second = box.querySelector("#second")?.value.trim(), note = box.querySelector("#note").value.trim();
    return { ...out, ...(second ? { second } : {}), ...(note ? { note } : {}) };
  };
  const preview = async () => {
    const found = await post(`/actions/${op}/preview`, body());
    effect.replaceChildren(found.changes.length ? h("table", {}, h("thead", {}, h("tr", {}, ["Pair", "Now", "Then"].map((x) => h("th", {}, x)))), h("tbody", {}, found.changes.map((c) => h("tr", {}, h("td", {}, `${c.section}${c.pair}`), h("td", {}, c.before ? `${c.before.place}  ${c.before.value}` : "–"), h("td", {}, c.after ? `${c.after.place}  ${c.after.value}` : "–"))))) : h("p", { class: "note" }, "The ranking stays as it is."));
  };
  box.append(h("h3", {}, label), h("div", { class: "fields" }, fields(), field("actor", "Your name", h("input", { value: D.actor, maxlength: 40 })), D.data.event.final ? field("second", "Second name (results are final)", h("input", { maxlength: 40 })) : "", field("note", "Reason", h("input", { maxlength: 300 }))),
    h("p", { class: "row" }, doing("Preview", preview), doing(label, async () => { await act(op, body()); if (name === "move" || name === "swap") closePanel(); else openPlay(p); }, "primary", { id: "doit" })), effect);
  setTimeout(() => box.querySelector("input, select")?.focus());
  return box;
}
