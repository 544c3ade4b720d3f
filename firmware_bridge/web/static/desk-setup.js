// Begin an evening on one page: pairs and finishing time give three movements to choose from, or the same as last time.
import { h, said, t } from "./base.js";
import { again, D, doing, field, get, may, number, post, value } from "./desk.js";

export const METHODS = ["matchpoints", "cross_imps", "butler", "aggregate"];

export async function setupView() {
  if (!may("director")) return h("p", { class: "card" }, t("desk.no-event"));
  const before = await get("/setup/previous"), place = h("div", { class: "props", "aria-live": "polite" });
  const today = new Date().toLocaleDateString(document.documentElement.lang || undefined, { weekday: "long", day: "numeric", month: "long" });
  const running = D.data.event.active && !D.data.event.final && D.data.grid.counts.stored > 0;
  const minutes = () => {
    const [hh, mm] = value("finish").split(":").map(Number), [sh, sm] = value("start").split(":").map(Number);
    return (hh * 60 + mm - (sh * 60 + sm) + 1440) % 1440;
  };
  const offer = async () => {
    const found = await post("/setup/propose", { pairs: Number(value("pairs")), minutes: minutes(), minutes_per_board: Number(value("pace")), boards: Number(value("boardcount") || 0) });
    place.replaceChildren(...found.map((p, i) => proposal(p, i === 0)));
    place.firstChild?.querySelector("button")?.focus();
  };
  const clock = new Date(), pad = (n) => String(n).padStart(2, "0"), later = new Date(clock.getTime() + 210 * 60000), time = (at) => h("input", { type: "time", value: `${pad(at.getHours())}:${pad(at.getMinutes())}` });
  return [h("section", { class: "card" }, h("h2", { tabindex: "-1" }, t("desk.begin-evening")),
    running ? h("p", { class: "note warn" }, h("label", {}, h("input", { type: "checkbox", id: "instead" }), ` ${t("desk.instead", { name: D.data.event.name })}`)) : "",
    before ? h("div", { class: "note row" }, h("span", { class: "grow" }, t("desk.last-time", { name: before.name, movements: before.movements.map(said).join(", ") })), doing(t("desk.same-again"), () => startEvent({ again: true }), "", { id: "again" })) : "",
    h("div", { class: "fields" },
      field("eventname", t("desk.name"), h("input", { value: today, maxlength: 80 }), "broad"), field("pairs", t("desk.pairs-each"), number("pairs", { min: 3, max: 200, value: 12 })), field("sections", t("desk.sections"), number("sections", { max: 26, value: 1 })),
      field("start", t("desk.first-board"), time(clock)), field("finish", t("desk.finish"), time(later)),
      field("pace", t("desk.pace"), number("pace", { min: 3, max: 20, value: 7 })), field("boardcount", t("desk.at-hand"), number("boardcount", { min: 2, max: 99 })),
      field("method", t("desk.scoring"), h("select", {}, METHODS.map((v) => h("option", { value: v }, t(`method.${v}`))))),
      field("leads", t("desk.leads"), h("select", {}, h("option", { value: "yes" }, t("desk.asked")), h("option", { value: "no" }, t("desk.not-asked")))),
      field("pair", t("desk.i-play"), h("input", { maxlength: 5, placeholder: "A7" })), field("pin", t("desk.table-pin"), h("input", { maxlength: 4, inputmode: "numeric", autocomplete: "off" }))),
    h("p", { class: "row" }, doing(t("desk.propose"), offer, "primary", { id: "propose" }))), place];
}

function proposal(p, first) {
  const line = (key, values = p) => h("li", {}, t(key, values));
  return h("section", { class: "card" }, h("h3", {}, said(p.movement)), first ? h("span", { class: "tag good" }, t("desk.recommended")) : "",
    h("ul", {}, line("desk.prop-rounds"), line("desk.prop-ends", { h: Math.floor(p.minutes / 60), min: p.minutes % 60 }), line(p.winners === 2 ? "desk.prop-two" : "desk.prop-one"), p.sit_outs ? line("desk.prop-sit-out") : line("desk.prop-no-sit-out"),
      p.shared_rounds ? line("desk.prop-shared") : "", line(p.copies > 1 ? "desk.prop-copies" : "desk.prop-one-copy"), p.remarks.slice(0, 2).map((r) => h("li", { class: "soft" }, said(r)))),
    doing(t("desk.play-this"), () => startEvent({ spec: p.spec, sections: Number(value("sections") || 1) }), first ? "primary" : "", { "data-spec": p.spec, "aria-label": `${t("desk.play-this")}: ${said(p.movement)}` }));
}

// What the form says beside the movement; for every way to begin an event.
export function eventOptions() {
  return {
    name: value("eventname"), method: value("method"), instead: document.getElementById("instead")?.checked || false,
    settings: { admit_all: true, ...(value("pair") ? { playing_director: [value("pair").trim().toUpperCase()] } : {}), lead: value("leads") === "yes", ...(value("pin") ? { director_pin: value("pin") } : {}) },
  };
}

export async function startEvent(body) {
  await post("/setup/start", { ...eventOptions(), ...body });
  await again("terminals");
}
