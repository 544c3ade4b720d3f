// What a table may record of a board beside its result, where the event asks for it: auction, play, the four hands.
import { button, h, strain, t } from "./base.js";
import { KIND, packAuction, packHands, packPlay, SEATS, STRAINS, TABLE } from "./record.js";
import { addToBoard } from "./terminal-round.js";
import { anytime, entryFor, go, here, keepRecord, notKept, once, page, plainText, recorded, S, SCREENS, seatName, step } from "./terminal-state.js";

const RANKS = [..."AKQJT98765432"], CARD_SUITS = [..."SHDC"];
const rankText = (rank) => RANKS[rank].replace("T", "10");
const cardText = (card) => [strain(CARD_SUITS[Math.floor(card / 13)]), rankText(card % 13)];
const change = (more) => go({ ...step(), ...more }, { replace: true });
const dealerOf = (board) => (board - 1) % 4;

addToBoard((board, round) => {
  const e = entryFor(board, round), settings = S.info?.settings || {};
  if (!e || e.fields.kind === KIND.notPlayed || round !== S.round) return "";
  const offer = (at, what, key, wanted) => (wanted ? button([t(key), recorded(what, board) ? ` ${recorded(what, board).acked ? "✓" : "…"}` : ""], () => go({ at, board, round }), "", { "data-record": at }) : "");
  return [offer("auction", TABLE.auction, "record-auction", settings.auction), offer("play", TABLE.play, "record-play", settings.play && e.fields.kind === KIND.played), offer("hands", TABLE.hands, "key-in-hands", settings.hand_entry)];
});
anytime("auction", "play", "hands");

const keepAndBack = (what, board, data) => once("keep", async () => {
  const { still } = here();
  try { await keepRecord(what, board, data); } catch { notKept(); return; }
  if (still()) history.back();
});

// --- auction -----------------------------------------------------------------------------------------------------

const PASS = 0, DOUBLE = 36, REDOUBLE = 37;
const callText = (call) => (call === PASS ? t("pass") : call === DOUBLE ? "X" : call === REDOUBLE ? "XX" : [Math.ceil(call / 5), strain(STRAINS[(call - 1) % 5])]);

// What may be called now (Laws 18 and 19): the last bid, who made it, whether it is doubled; and whether it is over.
export function auctionState(dealer, calls) {
  let bid = 0, by = -1, doubled = 0;
  calls.forEach(({ call }, at) => {
    const seat = (dealer + at) % 4;
    if (call >= 1 && call <= 35) { bid = call; by = seat; doubled = 0; } else if (call === DOUBLE) doubled = 1; else if (call === REDOUBLE) doubled = 2;
  });
  const passes = [...calls].reverse().findIndex((one) => one.call !== PASS), trailing = passes < 0 ? calls.length : passes;
  const seat = (dealer + calls.length) % 4, ours = bid && by % 2 === seat % 2;
  // Declarer: who of the side that ended named the strain first (Law 22).
  const first = bid ? calls.findIndex(({ call }, at) => call >= 1 && call <= 35 && (call - bid) % 5 === 0 && (dealer + at) % 2 === by % 2) : -1;
  return { bid, doubled, seat, over: bid ? trailing >= 3 : trailing >= 4, mayDouble: Boolean(bid && !ours && doubled === 0), mayRedouble: Boolean(bid && ours && doubled === 1), declarer: first < 0 ? null : (dealer + first) % 4 };
}

SCREENS.auction = () => {
  const s = step(), dealer = dealerOf(s.board), calls = s.calls || [], now = auctionState(dealer, calls), e = entryFor(s.board, s.round);
  const add = (call) => change({ calls: [...calls, { call, alerted: s.alerted || false }], level: undefined, alerted: false });
  const rows = [];
  [...Array(dealer).fill(null), ...calls].forEach((one, at) => { if (at % 4 === 0) rows.push([]); rows.at(-1).push(h("td", {}, one ? [callText(one.call), one.alerted ? h("sup", {}, "!") : ""] : "")); });
  const same = !now.over || !e || (now.bid ? e.fields.kind === KIND.played && now.bid === (e.fields.level - 1) * 5 + e.fields.strain && now.doubled === e.fields.doubling && now.declarer === e.fields.declarer : e.fields.kind === KIND.passed);
  return page([t("board", { board: s.board }), " · ", now.over ? t("auction") : t("to-call", { seat: seatName(now.seat) })],
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("auction") }, h("table", { class: "auction" }, h("thead", {}, h("tr", {}, [...SEATS].map((c) => h("th", {}, h("abbr", { title: t(`seat-${c}`) }, c))))), h("tbody", {}, rows.map((row) => h("tr", {}, row))))),
    same ? "" : h("p", { class: "note warn", role: "alert" }, t("auction-differs", { result: plainText(e.fields) })),
    now.over ? "" : [
      h("div", { class: "keys k7 low", role: "group", "aria-label": t("level") }, [1, 2, 3, 4, 5, 6, 7].map((n) => button(n, () => change({ level: n }), "", { "aria-pressed": String(s.level === n), disabled: n * 5 <= now.bid }))),
      h("div", { class: "keys k5", role: "group", "aria-label": t("strain") }, [...STRAINS].map((c, i) => button(strain(c), () => add((s.level - 1) * 5 + i + 1), "", { "aria-label": t(`suit-${c}`), disabled: !s.level || (s.level - 1) * 5 + i + 1 <= now.bid }))),
      h("div", { class: "keys k4" }, button(t("pass"), () => add(PASS), "", { id: "callpass" }), button("X", () => add(DOUBLE), "", { disabled: !now.mayDouble, "aria-label": t("doubled") }), button("XX", () => add(REDOUBLE), "", { disabled: !now.mayRedouble, "aria-label": t("redoubled") }), button(t("alert"), () => change({ alerted: !s.alerted }), "", { "aria-pressed": String(Boolean(s.alerted)) }))],
    now.over ? h("div", { class: "pushdown" }) : "", now.over ? button(t("store"), () => keepAndBack(TABLE.auction, s.board, packAuction(dealer, calls)), "primary big", { id: "storerecord" }) : "",
    h("div", { class: "keys k2" }, button(t("undo"), () => change({ calls: calls.slice(0, -1) }), "", { disabled: !calls.length }), button(t("back"), () => history.back(), "")));
};

// --- play --------------------------------------------------------------------------------------------------------

// Whose turn it is and who won what, from the cards alone (Law 44).
export function playState(declarer, trump, cards) {
  let seat = (declarer + 1) % 4, trick = [];
  const won = [0, 0], played = cards.map((card) => {
    const one = { seat, card };
    trick.push(one);
    if (trick.length === 4) {
      const led = Math.floor(trick[0].card / 13);
      const best = trick.reduce((a, b) => (worth(b.card, led, trump) > worth(a.card, led, trump) ? b : a));
      won[best.seat % 2] += 1;
      seat = best.seat;
      trick = [];
    } else seat = (seat + 1) % 4;
    return one;
  });
  return { seat, trick, won, played };
}
const worth = (card, led, trump) => { const suit = Math.floor(card / 13); return (suit === trump ? 26 : suit === led ? 13 : 0) + (12 - (card % 13)); };

SCREENS.play = () => {
  const s = step(), e = entryFor(s.board, s.round);
  if (!e || e.fields.kind !== KIND.played) return SCREENS.boards();
  // Strains are C D H S N, suits of cards S H D C.
  const f = e.fields, trump = f.strain === 5 ? -1 : 4 - f.strain, cards = s.cards || (f.lead === null || f.lead === undefined ? [] : [f.lead]);
  const now = playState(f.declarer, trump, cards), all = cards.length === 52, suit = s.suit ?? (now.trick.length ? Math.floor(now.trick[0].card / 13) : undefined);
  return page([t("board", { board: s.board }), " · ", all ? t("play") : t("to-play", { seat: seatName(now.seat) })],
    h("p", {}, t("trick", { number: Math.min(13, Math.floor(cards.length / 4) + 1) }), ": ", now.trick.map((one) => [SEATS[one.seat], " ", cardText(one.card), "  "]), h("span", { class: "soft" }, ` NS ${now.won[0]} · EW ${now.won[1]}`)),
    all ? "" : [
      h("div", { class: "keys k4 low", role: "group", "aria-label": t("suit") }, CARD_SUITS.map((c, i) => button(strain(c), () => change({ cards, suit: i }), "", { "aria-pressed": String(suit === i), "aria-label": t(`suit-${c}`) }))),
      h("div", { class: "keys k5", role: "group", "aria-label": t("card") }, RANKS.map((c, i) => button(rankText(i), () => change({ cards: [...cards, suit * 13 + i], suit: undefined }), "", { disabled: suit === undefined || cards.includes(suit * 13 + i) })))],
    h("p", { class: "soft small" }, t("play-help")), all ? h("div", { class: "pushdown" }) : "",
    button(t("store"), () => keepAndBack(TABLE.play, s.board, packPlay(f.tricks, now.played)), "primary big", { id: "storerecord", disabled: !cards.length }),
    h("div", { class: "keys k2" }, button(t("undo"), () => change({ cards: cards.slice(0, -1), suit: undefined }), "", { disabled: !cards.length }), button(t("back"), () => history.back(), "")));
};

// --- hands -------------------------------------------------------------------------------------------------------

SCREENS.hands = () => {
  const s = step(), owners = s.owners || Array(52).fill(-1), seat = s.seat || 0;
  const held = (who) => CARD_SUITS.map((c, suit) => h("div", {}, strain(c), " ", RANKS.filter((_, rank) => owners[suit * 13 + rank] === who).join("").replace("T", "10") || "–"));
  const count = owners.filter((who) => who === seat).length;
  const set = (card) => change({ owners: owners.map((who, at) => (at === card ? (who === seat ? -1 : count < 13 ? seat : who) : who)) });
  const next = () => change({ seat: seat + 1, owners: seat < 2 ? owners : owners.map((who) => (who < 0 ? 3 : who)) });
  const back = () => (seat ? change({ seat: seat - 1, owners: seat === 3 ? owners.map((who) => (who === 3 ? -1 : who)) : owners }) : history.back());
  if (seat === 3) {
    return page([t("board", { board: s.board }), " · ", t("hand-right", { seat: seatName(3) })], h("div", { class: "sum hand" }, held(3)), h("div", { class: "pushdown" }),
      button(t("accept"), () => keepAndBack(TABLE.hands, s.board, packHands(owners)), "primary big", { id: "storerecord" }), button(t("change"), back));
  }
  return page([t("board", { board: s.board }), " · ", t("hand-of", { seat: seatName(seat) }), " ", h("span", { class: "soft", role: "status" }, `${count}/13`)],
    CARD_SUITS.map((c, suit) => h("div", { class: "keys k8", role: "group", "aria-label": t(`suit-${c}`) }, h("div", { class: "suit" }, strain(c)), RANKS.map((_, rank) => {
      const card = suit * 13 + rank, mine = owners[card] === seat;
      return button(rankText(rank), () => set(card), "", { "aria-pressed": String(mine), disabled: !mine && (owners[card] >= 0 || count === 13) });
    }))),
    h("div", { class: "pushdown" }), button(t("next"), next, "primary big", { id: "nexthand", disabled: count !== 13 }), button(t("back"), back));
};
