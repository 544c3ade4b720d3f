// Small pictures for people who look rather than read. Each has its numbers in words for those who can't see it.
import { h, svg, signed } from "./base.js";

export function progress(rounds) {
  return h("div", { class: "bars" }, rounds.map((r) => h("div", {}, h("span", {}, `Round ${r.round}`),
    h("meter", { min: 0, max: r.expected || 1, value: r.stored, "aria-label": `Round ${r.round}: ${r.stored} of ${r.expected}` }),
    h("span", { class: "small" }, `${r.stored}/${r.expected}`))));
}

export function distribution(lines) {
  const counts = new Map();
  for (const l of lines) if (l.score !== null && l.score !== undefined) counts.set(l.score, (counts.get(l.score) || 0) + 1);
  const scores = [...counts.keys()].sort((a, b) => b - a);
  if (!scores.length) return h("p", { class: "soft" }, "No scores yet.");
  const most = Math.max(...counts.values()), wide = 300, each = 20, tall = scores.length * each + 6;
  const label = scores.map((s) => `${signed(s)}: ${counts.get(s)}`).join(", ");
  return svg("svg", { class: "chart", viewBox: `0 0 ${wide} ${tall}`, role: "img", "aria-label": `Scores from North-South: ${label}` },
    scores.map((s, i) => [
      Object.assign(svg("text", { x: 52, y: i * each + 15, "text-anchor": "end" }), { textContent: signed(s) }),
      svg("rect", { x: 58, y: i * each + 4, height: each - 6, width: (counts.get(s) / most) * (wide - 90), rx: 3, class: s < 0 ? "bar minus" : "bar" }),
      Object.assign(svg("text", { x: 64 + (counts.get(s) / most) * (wide - 90), y: i * each + 15 }), { textContent: counts.get(s) }),
    ]));
}

export function rounds(pairs, top = 3) {
  const found = pairs.filter((p) => p.percent.length);
  if (!found.length) return h("p", { class: "soft" }, "Nothing to draw yet.");
  const last = Math.max(...found.map((p) => p.percent.length)), all = found.flatMap((p) => p.percent.filter((v) => v !== null));
  const low = Math.floor(Math.min(...all, 40) / 10) * 10, high = Math.ceil(Math.max(...all, 60) / 10) * 10, wide = 460, tall = 230;
  const x = (i) => 34 + (last > 1 ? (i * (wide - 90)) / (last - 1) : 0), y = (v) => 12 + ((high - v) * (tall - 40)) / (high - low || 1);
  const ranked = [...found].sort((a, b) => (b.percent.at(-1) ?? 0) - (a.percent.at(-1) ?? 0));
  const words = ranked.slice(0, top).map((p) => `pair ${p.pair} ${p.percent.at(-1)} percent`).join(", ");
  const grid = [];
  for (let v = low; v <= high; v += 10) grid.push(svg("line", { x1: 34, x2: wide - 50, y1: y(v), y2: y(v), class: "axis" }), Object.assign(svg("text", { x: 28, y: y(v) + 4, "text-anchor": "end" }), { textContent: v }));
  const tags = new Map(); // labels of lines that end close together are moved apart
  for (const p of ranked.slice(0, top).sort((a, b) => b.percent.at(-1) - a.percent.at(-1))) {
    let at = y(p.percent.at(-1)) + 4;
    for (const other of tags.values()) if (Math.abs(other - at) < 12) at = other + 12;
    tags.set(p, at);
  }
  const lines = [...ranked].reverse().map((p) => {
    const lead = ranked.indexOf(p) < top;
    const points = p.percent.map((v, i) => (v === null ? null : `${x(i).toFixed(1)},${y(v).toFixed(1)}`)).filter(Boolean);
    return [svg("polyline", { points: points.join(" "), class: lead ? "line top" : "line" }), lead ? Object.assign(svg("text", { x: x(p.percent.length - 1) + 6, y: tags.get(p) }), { textContent: `${p.section}${p.pair}` }) : null];
  });
  const below = Array.from({ length: last }, (_, i) => Object.assign(svg("text", { x: x(i), y: tall - 8, "text-anchor": "middle" }), { textContent: i + 1 }));
  return svg("svg", { class: "chart", viewBox: `0 0 ${wide} ${tall}`, role: "img", "aria-label": `Percentages after each round; in front: ${words}` }, grid, lines, below);
}
