// Small pictures for people who look rather than read. Each has its numbers in words for those who can't see it.
import { h, svg, signed, t } from "./base.js";

export function progress(rounds) {
  return h("div", { class: "bars" }, rounds.map((r) => h("div", {}, h("span", {}, t("round", { round: r.round })),
    h("meter", { min: 0, max: r.expected || 1, value: r.stored, "aria-label": `${t("round", { round: r.round })}: ${r.stored}/${r.expected}` }),
    h("span", { class: "small" }, `${r.stored}/${r.expected}`))));
}

const letters = (content, props) => Object.assign(svg("text", props), { textContent: content });

export function distribution(lines) {
  const counts = new Map();
  for (const l of lines) if (l.score !== null && l.score !== undefined) counts.set(l.score, (counts.get(l.score) || 0) + 1);
  const scores = [...counts.keys()].sort((a, b) => b - a);
  if (!scores.length) return h("p", { class: "soft" }, t("chart.no-scores"));
  const most = Math.max(...counts.values()), wide = 300, each = 20, tall = scores.length * each + 6;
  const label = scores.map((s) => `${signed(s)}: ${counts.get(s)}`).join(", ");
  return svg("svg", { class: "chart", viewBox: `0 0 ${wide} ${tall}`, role: "img", "aria-label": `${t("chart.from-ns")}: ${label}` },
    scores.map((s, i) => [
      letters(signed(s), { x: 52, y: i * each + 15, "text-anchor": "end" }),
      svg("rect", { x: 58, y: i * each + 4, height: each - 6, width: (counts.get(s) / most) * (wide - 90), rx: 3, class: s < 0 ? "bar minus" : "bar" }),
      letters(counts.get(s), { x: 64 + (counts.get(s) / most) * (wide - 90), y: i * each + 15 }),
    ]));
}

// Standings after each round, in percent or in points; the best ones and those of "own" (like "A7") in front.
export function rounds(pairs, { top = 3, own = "" } = {}) {
  const line = (p) => p.percent || p.points || [], inPercent = pairs.some((p) => p.percent);
  const found = pairs.filter((p) => line(p).some((v) => v !== null));
  if (!found.length) return h("p", { class: "soft" }, t("chart.nothing"));
  const last = Math.max(...found.map((p) => line(p).length)), all = found.flatMap((p) => line(p).filter((v) => v !== null));
  const wide = 460, tall = 230, spread = Math.max(...all) - Math.min(...all), each = inPercent ? 10 : niceStep(spread);
  const low = Math.floor(Math.min(...all, inPercent ? 40 : 0) / each) * each, high = Math.ceil(Math.max(...all, inPercent ? 60 : each) / each) * each;
  const x = (i) => 40 + (last > 1 ? (i * (wide - 96)) / (last - 1) : 0), y = (v) => 12 + ((high - v) * (tall - 40)) / (high - low || 1);
  const now = (p) => line(p).findLast((v) => v !== null) ?? 0, many = new Set(found.map((p) => p.section)).size > 1;
  const ranked = [...found].sort((a, b) => now(b) - now(a));
  const front = new Set(ranked.filter((p, i) => i < top || `${p.section}${p.pair}` === own)), name = (p) => `${many ? p.section : ""}${p.pair}`;
  const grid = [];
  for (let v = low; v <= high; v += each) grid.push(svg("line", { x1: 40, x2: wide - 50, y1: y(v), y2: y(v), class: "axis" }), letters(v, { x: 34, y: y(v) + 4, "text-anchor": "end" }));
  const tags = new Map(); // labels of lines that end close together are moved apart
  for (const p of ranked) {
    if (!front.has(p)) continue;
    let at = y(now(p)) + 4;
    for (const other of tags.values()) if (Math.abs(other - at) < 12) at = other + 12;
    tags.set(p, at);
  }
  const lines = [...ranked].reverse().map((p) => {
    const points = line(p).map((v, i) => (v === null ? null : `${x(i).toFixed(1)},${y(v).toFixed(1)}`)).filter(Boolean);
    const kind = `${p.section}${p.pair}` === own ? "line top own" : front.has(p) ? "line top" : "line";
    return [svg("polyline", { points: points.join(" "), class: kind }), front.has(p) ? letters(name(p), { x: x(line(p).length - 1) + 6, y: tags.get(p) }) : null];
  });
  const below = Array.from({ length: last }, (_, i) => letters(i + 1, { x: x(i), y: tall - 8, "text-anchor": "middle" }));
  const label = ranked.slice(0, top).map((p) => `${name(p)}: ${now(p)}${inPercent ? " %" : ""}`).join(", ");
  return svg("svg", { class: "chart", viewBox: `0 0 ${wide} ${tall}`, role: "img", "aria-label": `${t("chart.over-rounds")}: ${label}` }, grid, lines, below);
}

// 1, 2 or 5 times a power of ten, so that there are about five lines.
function niceStep(spread) {
  const rough = Math.max(1, spread / 5), power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
}
