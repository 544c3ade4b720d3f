// What the dealing screen knows of the past, also after a restart: attempts, finished sets, the machine's own figures.
import { button, h, t, told } from "./base.js";

const reasons = (codes) => codes.map((code) => told("why", code, code)).join(", ");

export function historyCard(data, past) {
  // What this screen has seen itself is the end of what the journal knows.
  const list = past ? past.attempts : [...data.history].reverse();
  if (!list.length) return "";
  return h("section", { class: "card small" }, h("h2", {}, t("deal.history")), h("ol", { class: "history" }, list.slice(0, 12).map((x) => h("li", {}, h("strong", {}, `${t("board", { board: x.board })}${x.copy > 1 ? `/${x.copy}` : ""}`), " ", told("board-state", x.state, x.state), x.reasons.length ? `: ${reasons(x.reasons)}` : "", x.at ? h("span", { class: "soft" }, ` ${x.at.slice(11, 16)}`) : ""))));
}

export function setsCard(past) {
  if (!past?.sets.length) return "";
  return h("section", { class: "card small" }, h("h2", {}, t("deal.sets")), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("deal.sets") }, h("table", {}, h("thead", {}, h("tr", {}, [t("deal.set-name"), t("boards"), t("deal.copies-short"), t("deal.good"), t("deal.others"), t("deal.last-made")].map((x, i) => h("th", { class: i > 0 && i < 4 ? "n" : "" }, x)))),
    h("tbody", {}, past.sets.map((s) => h("tr", {}, h("td", {}, h("code", {}, s.id)), h("td", { class: "n" }, s.first === s.last ? s.first : `${s.first}–${s.last}`), h("td", { class: "n" }, s.copies), h("td", { class: "n" }, `${s.states.good || 0}/${s.planned}`), h("td", {}, Object.entries(s.states).filter(([name]) => name !== "good").map(([name, count]) => `${count} ${told("board-state", name, name)}`).join(", ")), h("td", {}, s.at.replace("T", " ").slice(0, 16))))))));
}

export function healthCard(past, clean) {
  if (!past?.machines.length) return "";
  const percent = (share) => `${share > 0 ? "+" : ""}${(share * 100).toFixed(1)} %`;
  return h("section", { class: "card small" }, h("h2", {}, t("deal.health")), past.machines.map((m) => h("div", { class: "machine" },
    m.warnings.length ? m.warnings.map((w) => h("p", { class: "note warn" }, told("health", w.code, w.text))) : h("p", { class: "note good" }, t("deal.healthy")),
    h("dl", { class: "figures" }, [["deal.boards-dealt", m.attempts], ["deal.feed", `${m.feed_ms.toFixed(0)} ms (${percent(m.feed_drift)})`], ["deal.margin", `${m.margin.toFixed(0)} (${percent(m.margin_drift)})`], ["deal.false-reads", m.false_reads_per_100_packs.toFixed(2)], ...Object.entries(m.troubles).map(([name, count]) => [`trouble.${name}`, count])].map(([key, figure]) => [h("dt", {}, t(key)), h("dd", {}, figure)])),
    h("p", { class: "row" }, h("code", { class: "grow" }, m.machine), button(t("deal.cleaned"), () => clean(m.machine))))));
}
