// Who is in the room: the terminals of the tables, and the ranking with its chart.
import { button, h, t, told } from "./base.js";
import { rounds } from "./charts.js";
import { D, act, doing, field, get, letters, may, messageForm, number, openPanel } from "./desk.js";

export async function terminalsView() {
  const found = await get("/terminals");
  const admit = (x) => {
    const section = h("select", {}, letters().map((l) => h("option", {}, l))), table = number("totable", { value: x.table || 1 });
    if (x.section) section.value = x.section;
    openPanel(t("desk.terminal", { device: x.device }), h("div", { class: "fields" }, field("tosection", t("desk.section-label"), section), field("totable", t("desk.table"), table)), h("p", { class: "row" }, doing(t("desk.give-table"), () => act("replace", { device: x.device, section: section.value, table: Number(table.value) }), "primary"), doing(t("refused-title"), () => act("refuse", { device: x.device }), "danger")));
  };
  return h("section", { class: "card" }, h("div", { class: "row" }, h("h2", { class: "grow", tabindex: "-1" }, t("desk.view-terminals")), may("director") ? h("a", { class: "button", href: "/cards" }, t("desk.cards-to-print")) : "", may("assistant") ? doing(t("desk.admit-all"), () => act("admit-all", {})) : "", may("assistant") ? button(t("desk.message-all"), () => messageForm(null)) : ""),
    found.length ? h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("desk.view-terminals") }, h("table", {}, h("thead", {}, h("tr", {}, ["desk.table", "desk.state", "desk.kind", "desk.waiting", "desk.battery"].map((x, i) => h("th", { class: i > 2 ? "n" : "" }, t(x))), h("th", {}, h("span", { class: "hidden-label" }, t("change"))))), h("tbody", {}, found.map((x) => h("tr", {}, h("td", {}, x.table ? `${x.section}${x.table}` : "–"), h("td", {}, h("span", { class: x.present ? "tag good" : "tag warn" }, t(x.present ? "desk.there" : "desk.away")), " ", told("device", x.state, x.state)), h("td", {}, x.model === "Browser" ? t("desk.browser") : x.model, h("div", { class: "soft small" }, x.device)), h("td", { class: x.waiting ? "n" : "n soft" }, x.waiting ?? "?"), h("td", { class: "n" }, x.battery === null ? "" : `${x.battery} %`), h("td", {}, may("assistant") ? button(t("change"), () => admit(x), "", { "aria-label": `${t("change")}: ${x.table ? `${x.section}${x.table}` : x.device}` }) : "")))))) : h("p", {}, t("desk.no-terminals")));
}

export async function rankingView() {
  const [groups, lines] = await Promise.all([get("/ranking"), get("/rounds")]);
  const unit = D.data.event.method === "matchpoints" ? "%" : "IMP";
  const name = (g) => (g.direction ? t(g.direction) : g.name || t("ranking"));
  return h("div", { class: "two" }, h("div", {}, groups.map((g, i) => h("section", { class: "card" }, h("h2", { tabindex: i ? null : "-1" }, name(g)), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name(g) }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { class: "n" }, t("place")), h("th", { class: "n" }, t({ teams: "results.team", individual: "results.player" }[D.data.event.sections[0]?.format] || "desk.contestant")), h("th", {}, t("names")), h("th", { class: "n" }, unit), h("th", { class: "n wide-only" }, t("boards")))), h("tbody", {}, g.rows.map((r) => h("tr", {}, h("td", { class: "n" }, r.place), h("td", { class: "n" }, `${letters().length > 1 ? r.section : ""}${r.pair}`), h("td", { class: "names" }, r.names), h("td", { class: "n" }, r.value), h("td", { class: "n wide-only" }, r.boards))))))))),
    h("section", { class: "card" }, h("h2", {}, t("chart.over-rounds")), rounds(lines)));
}
