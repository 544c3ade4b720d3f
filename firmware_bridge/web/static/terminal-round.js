// The course of a session at a table: who plays, which board, what was entered, where to go next.
import { button, h, heard, t } from "./base.js";
import { KIND, TABLE, vulnerable } from "./record.js";
import { begin, erase, scoreWords } from "./terminal-entry.js";
import { anytime, backButton, boardsOf, called, entryFor, go, here, isDone, keepRecord, lastRound, names, notKept, once, page, plainText, planRound, ready, recorded, S, SCREENS, seats, sideOf, step, T, waiting } from "./terminal-state.js";

const vulWords = (board) => { const v = vulnerable(board); return t(v.ns && v.ew ? "vul-all" : v.ns ? "vul-ns" : v.ew ? "vul-ew" : "vul-none"); };
const run = (boards) => boards.reduce((out, b) => { const last = out.at(-1); if (last && last[1] === b - 1) last[1] = b; else out.push([b, b]); return out; }, []).map(([a, b]) => (a === b ? a : `${a}–${b}`)).join(", ");

SCREENS.nocard = () => page(t("no-card"), h("p", {}, t("no-card-help")), waiting() ? h("p", { class: "note bad" }, t("still-here", { count: waiting() })) : "");
SCREENS.over = () => page(t("over-title"), waiting() ? h("p", { class: "note warn", role: "status" }, t("over-waiting", { count: waiting() })) : S.records.length ? h("p", { class: "note good", role: "status" }, t("over-received")) : "", h("p", {}, t("no-card-help")));
SCREENS.wait = () => page(t("wait-title"), h("p", {}, heard(S.admit?.text) || t(T.link.online ? "wait-admit" : "wait-net")));
SCREENS.refusedDevice = () => page(t("refused-title"), h("p", {}, heard(S.admit.text)));

SCREENS.round = () => {
  const r = planRound(), boards = boardsOf(r), first = sideOf(r, "NS")[0];
  const side = (name) => [h("dt", {}, t(name)), h("dd", {}, sideOf(r, name).map((one) => h("div", {}, called(one), " ", h("span", { class: "soft" }, names(one)))))];
  return page(t("round", { round: r.round }),
    h("dl", { class: "pairs" }, side("NS"), side("EW"), h("dt", {}, t("boards")), h("dd", {}, run(boards), r.shared ? h("div", { class: "small soft" }, t("shared")) : "")),
    h("div", { class: "pushdown keys" }, button(t("start-round"), startRound, "primary big", { id: "start" }),
      S.info?.settings.positions && !seats(r) ? button(t("sit-otherwise"), () => go({ at: "positions" }), "", { id: "otherwise" }) : "",
      r.round === 1 && S.info?.settings.names ? button(t("enter-names"), () => go({ at: "people", pair: first })) : ""));
};

// Where positions are asked for, starting a round says that everybody sits as planned.
const startRound = () => seated(1, () => go({ at: "boards" }));
const seated = (position, then) => once("seated", async () => {
  const { still } = here();
  try {
    if (S.info?.settings.positions && !(position === 1 && recorded(TABLE.positions, 0))) await keepRecord(TABLE.positions, 0, [position], 1, position === 3);
  } catch { notKept(); return; }
  if (still()) then();
});

SCREENS.positions = () => {
  const r = planRound(), say = (position) => seated(position, () => go({ at: "boards" }, { replace: true }));
  return page(t("sit-otherwise"), h("p", {}, t("sit-planned", { ns: called(r.ns), ew: called(r.ew) })), h("div", { class: "pushdown" }),
    button(t("sit-changed"), () => say(2), "primary big", { id: "changed" }), button(t("sit-stay"), () => say(3), "big", { id: "stay" }), button(t("back"), () => history.back(), "plain"));
};
anytime("positions");

SCREENS.boards = () => {
  const r = planRound(), boards = boardsOf(r), next = boards.find((b) => !isDone(b));
  return page(t("choose-board"),
    h("div", { class: "keys k2 boards" }, boards.map((board) => {
      const e = entryFor(board), done = isDone(board);
      const label = [t("board", { board }), h("small", {}, done ? (e ? [plainText(e.fields), e.acked ? " ✓" : " …"] : t("entered-elsewhere")) : vulWords(board))];
      return button(label, () => (done ? e && go({ at: "entry", board }) : begin(board, next)), done ? "done" : board === next ? "primary" : "", { "data-board": board, disabled: done && !e });
    })),
    h("p", { class: "soft" }, t("left", { count: boards.filter((b) => !isDone(b)).length })));
};

SCREENS.entry = () => {
  const e = entryFor(step().board);
  if (!e) return SCREENS.boards();
  const kept = { board: e.fields.board, round: S.round, replaces: { journal: e.journal, seq: e.seq } };
  return page(t("board", { board: e.fields.board }), h("div", { class: "sum" }, plainText(e.fields), h("small", {}, scoreWords(e.fields))),
    h("p", {}, e.acked ? t("received") : t("waiting-this")),
    S.info?.settings.traveller && e.acked ? button(t("traveller"), () => go({ at: "traveller", board: e.fields.board })) : "",
    more(e.fields.board, S.round), button(t("correct"), () => go({ at: "contract", ...kept })), button(t("erase"), () => once("erase", () => erase(e)), "danger"), backButton("plain"));
};

SCREENS.stored = () => {
  const s = step(), e = entryFor(s.board, s.round), rest = boardsOf(planRound()).filter((b) => !isDone(b));
  return page(t("board", { board: s.board }), h("div", { class: "sum" }, plainText(e.fields), h("small", {}, scoreWords(e.fields))),
    h("p", { class: `note ${e.acked ? "good" : "warn"}`, id: "state" }, e.acked ? t("received") : t("waiting-this")),
    e.acked && S.info?.settings.traveller && e.fields.kind !== KIND.notPlayed ? button(t("traveller"), () => go({ at: "traveller", board: s.board })) : "", more(s.board, s.round),
    h("div", { class: "pushdown" }),
    rest.length ? button(t("next-board", { board: rest[0] }), () => begin(rest[0], rest[0]), "primary big", { id: "nextboard" }) : button(t("end-round"), () => go({ at: "boards" }, { replace: true }), "primary big", { id: "endround" }));
};

// What else may be recorded of a board that has a result: other modules add their buttons.
const extras = [];
export const addToBoard = (make) => extras.push(make);
const more = (board, round) => extras.map((make) => make(board, round));

SCREENS.roundEnd = () => {
  const r = planRound(), last = lastRound();
  return page(t("round-done", { round: r.round }),
    h("ul", { class: "plain" }, boardsOf(r).map((b) => h("li", {}, entryFor(b) ? button([t("board", { board: b }), ": ", plainText(entryFor(b).fields)], () => go({ at: "entry", board: b }), "plain wide") : [t("board", { board: b }), ": ", t("entered-elsewhere")]))),
    last ? "" : nextSeats(r), h("div", { class: "pushdown" }), button(last ? t("finish") : t("next-round"), () => setRound(r.round + 1), "primary big", { id: "nextround" }));
};

SCREENS.sitout = () => {
  const r = planRound(), who = [r.ns, r.ew].filter(Boolean), last = lastRound();
  return page(t("round", { round: r.round }), h("p", { class: "sum" }, who.length ? t("sit-out", { pair: who.join(", ") }) : t("empty-table")), last ? "" : nextSeats(r),
    h("div", { class: "pushdown" }), button(last ? t("finish") : t("next-round"), () => setRound(r.round + 1), "primary big", { id: "nextround" }));
};

const drawn = () => Boolean(S.info?.draws && !S.info.published);
SCREENS.end = () => page(drawn() ? t("wait-draw") : t("end-title"), h("p", {}, waiting() ? t("still-here", { count: waiting() }) : drawn() ? t("wait-draw-help") : t("end-help")),
  S.info?.settings.ranking ? button(t("ranking"), () => go({ at: "ranking" }), "big") : "",
  S.info?.published ? h("a", { class: "button", href: "/results" }, t("results")) : "",
  button(t("back-round"), () => setRound(S.plan.rounds.at(-1).round), "plain"));

function nextSeats(r) {
  const line = (who, table, swap, side) => {
    if (!who.length || !who[0]) return "";
    const place = `${S.info.section}${table}`;
    const text = table === 255 ? t("seat-end") : table === 0 ? t("seat-out") : table === S.info.table && !swap ? t("seat-stay") : t("seat-to", { place, side: t(swap ? (side === "NS" ? "EW" : "NS") : side) });
    return [h("dt", {}, who.map(called).join(", ")), h("dd", {}, text)];
  };
  const individual = S.info?.next_seats?.[r.round];
  const lines = individual ? individual.map((one) => [h("dt", {}, called(one.player)), h("dd", {}, one.table ? t("seat-to", { place: `${S.info.section}${one.table}`, side: t(`seat-${one.seat}`) }) : t("seat-out"))])
    : seats(r) ? "" : [line(sideOf(r, "NS"), r.next_ns, r.next_swap & 1, "NS"), line(sideOf(r, "EW"), r.next_ew, r.next_swap & 2, "EW")];
  return lines ? h("div", { class: "card" }, h("h2", {}, t("next-seats")), h("dl", { class: "pairs" }, lines)) : "";
}

export async function setRound(number) {
  await ready;
  S.round = number;
  await T.journal.put("round", number).catch(() => {}); // where the phone is it may ask again after a reload; nothing is lost
  T.link.round = Math.min(255, number);
  T.tabs?.postMessage("round");
  go({ at: "round" }, { replace: true });
  T.link.pump();
  T.askInfo(); // who comes to this table now may have given his names at another one
}
