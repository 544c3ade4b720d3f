// Entering a result, one clear action on each screen: contract, declarer, lead, result, and the other side accepts.
import { ApiError, api, button, h, signed, strain, t, told } from "./base.js";
import { bodyText, clockNow, KIND, packAccepted, relative, score, SEATS, STRAINS, TABLE } from "./record.js";
import { acceptor, againstWords, draw, fieldsOf, go, here, notKept, once, page, plainText, planRound, ready, refresh, S, say, SCREENS, seatName, step, T, token } from "./terminal-state.js";

export const scoreWords = (f) => (f.kind === KIND.played || f.kind === KIND.passed ? `${t("NS")} ${signed(score(f))}` : "");
const chosen = (s) => [s.level, strain(STRAINS[s.strain - 1]), "X".repeat(s.doubling || 0)];
const press = (label, onclick, on, more = {}) => button(label, onclick, "", { "aria-pressed": String(on), ...more });

SCREENS.contract = () => {
  const s = step(), set = (more) => go({ ...s, ...more }, { replace: true });
  return page([t("board", { board: s.board }), " · ", t("contract")],
    h("div", { class: "keys k7", role: "group", "aria-label": t("level") }, [1, 2, 3, 4, 5, 6, 7].map((n) => press(n, () => set({ level: n }), s.level === n))),
    h("div", { class: "keys k5", role: "group", "aria-label": t("strain") }, [...STRAINS].map((c, i) => press(strain(c), () => set({ strain: i + 1 }), s.strain === i + 1, { "aria-label": t(`suit-${c}`) }))),
    h("div", { class: "keys k3", role: "group", "aria-label": t("doubled") }, ["–", "X", "XX"].map((x, i) => press(x, () => set({ doubling: i }), (s.doubling || 0) === i, { "aria-label": t(["undoubled", "doubled", "redoubled"][i]) }))),
    button(t("next"), () => go({ ...s, doubling: s.doubling || 0, at: "declarer" }), "primary big", { disabled: !(s.level && s.strain), id: "next" }),
    h("div", { class: "keys k2" }, button(t("pass-out"), () => go({ ...s, kind: KIND.passed, at: "accept" }), "", { id: "pass" }),
      S.info?.settings.pin ? button(t("not-played"), () => go({ ...s, at: "pin" })) : ""));
};

SCREENS.declarer = () => {
  const s = step(), r = planRound(), next = S.info?.settings.lead ? "lead" : "result";
  const who = (i) => (S.info?.seats?.[r.round] ? t("player", { number: S.info.seats[r.round][i] }) : t("pair", { pair: i % 2 ? r.ew : r.ns }));
  return page([t("board", { board: s.board }), " · ", chosen(s), " ", t("by")],
    h("div", { class: "compass" }, [...SEATS].map((c, i) => button([seatName(i), h("small", { class: "soft" }, h("br"), who(i))], () => go({ ...s, declarer: i, kind: KIND.played, at: next }), c, { "data-seat": c })), h("div", { class: "C soft" }, t("declarer"))));
};

SCREENS.lead = () => {
  const s = step(), set = (more) => go({ ...s, ...more }, { replace: true }), ranks = "AKQJT98765432";
  const done = (rank) => go({ ...s, lead: s.leadSuit * 13 + rank, at: "result" });
  return page([t("board", { board: s.board }), " · ", t("lead-of", { seat: seatName((s.declarer + 1) % 4) })],
    h("div", { class: "keys k4", role: "group", "aria-label": t("suit") }, [..."SHDC"].map((c, i) => press(strain(c), () => set({ leadSuit: i }), s.leadSuit === i, { "aria-label": t(`suit-${c}`) }))),
    h("div", { class: "keys k5", role: "group", "aria-label": t("card") }, [...ranks].map((c, i) => button(c === "T" ? "10" : c, () => done(i), "", { disabled: s.leadSuit === undefined }))),
    h("div", { class: "pushdown" }), button(t("no-lead"), () => go({ ...s, lead: null, at: "result" }), "", { id: "nolead" }));
};

SCREENS.result = () => {
  const s = step(), need = 6 + s.level, pick = (tricks) => go({ ...s, tricks, at: "accept" });
  const made = Array.from({ length: 14 - need }, (_, i) => need + i), down = Array.from({ length: need }, (_, i) => need - 1 - i);
  const key = (n, label, kind) => button(label, () => pick(n), kind, { "aria-label": `${label} ${t("tricks", { count: n })}`, "data-tricks": n });
  return page([t("board", { board: s.board }), " · ", chosen(s), " ", SEATS[s.declarer]],
    h("h2", { class: "group" }, t("made")), h("div", { class: "keys k4" }, made.map((n) => key(n, n === need ? "=" : `+${n - need}`, n === need ? "primary" : ""))),
    h("h2", {}, t("down")), h("div", { class: "keys k4" }, down.map((n) => key(n, `−${need - n}`, ""))));
};

SCREENS.accept = () => {
  const s = step(), r = planRound(), f = fieldsOf(s), confirm = S.info?.settings.confirm !== false;
  const other = s.kind === KIND.played && s.declarer % 2 ? t("NS") : t("EW"), played = f.kind === KIND.played;
  propose(s, f);
  return page(confirm ? t("accept-by", { side: other }) : t("right"), h("p", { class: "soft" }, t("board", { board: s.board }), " · ", againstWords(r)),
    h("div", { class: "sum" }, played ? [chosen(s), " ", seatName(s.declarer), " ", relative(f)] : t("passed-out"),
      h("small", {}, played ? t("tricks", { count: f.tricks }) : "", played && f.lead !== null && f.lead !== undefined ? [" · ", t("lead"), " ", strain("SHDC"[Math.floor(f.lead / 13)]), "AKQJT98765432"[f.lead % 13].replace("T", "10")] : ""),
      h("small", {}, scoreWords(f))),
    (S.notices || []).map((n) => h("div", { class: "note warn", role: "alert" }, told("notice", n.code, n.text))),
    confirm && S.info?.settings.confirm_code ? [h("label", { for: "code" }, t("own-code", { pair: acceptor(s, r) })), h("input", { id: "code", type: "password", autocomplete: "off", maxlength: "8" })] : "",
    h("div", { class: "pushdown" }),
    S.notices?.some((n) => n.answer === "director") ? button(t("call"), callDirector, "danger big") : "",
    button(S.notices?.length ? t("it-is-right") : confirm ? t("accept") : t("store"), () => accept(s, f, confirm), "primary big", { id: "accept" }),
    T.link.phones > 1 && confirm ? h("p", { class: "soft" }, t("other-phone")) : "",
    button(t("change"), () => { withdraw(); history.back(); }, "", { id: "change" }));
};

SCREENS.pin = () => {
  const input = h("input", { id: "pin", type: "password", inputmode: "numeric", maxlength: "4", autocomplete: "off" });
  const check = () => once("pin", async () => {
    const { step: s, still } = here(), asked = { ...s, kind: KIND.notPlayed };
    let found = null;
    try { found = await api("/table/pin", { token, body: { pin: input.value }, timeout: 6000 }); } catch { /* said below */ }
    if (!still()) return; // it was for the board that they have left
    if (found?.ok) return accept(asked, { ...fieldsOf(asked), confirmed: 3 }, false);
    S.note = { kind: "bad", text: t(!found ? "needs-net" : found.wait ? "pin-wait" : "pin-wrong") };
    draw();
  });
  return page(t("not-played"), h("label", { for: "pin" }, t("pin")), input, button(t("next"), check, "primary big"), button(t("back"), () => history.back(), "plain"));
};

// The other phone of a table: it may accept what the first one is about to store.
SCREENS.companion = () => {
  const p = T.link.pending, kept = S.records.filter((r) => !r.acked).length;
  // Also under an entry that waits: the phone that showed it may be the one that broke.
  const takeOver = T.link.takeOver ? h("p", { class: "note" }, t("take-over-asked")) : button(t("take-over"), () => { T.link.takeOver = true; T.link.pump(); draw(); }, p ? "plain" : "");
  if (p) {
    return page(t("accept-title"), h("p", { class: "soft" }, t("board", { board: p.board })),
      h("div", { class: "sum" }, p.text, h("small", {}, p.score)), h("p", {}, t("pairs-line", { ns: p.ns, ew: p.ew })),
      button(t("accept"), () => answer(p.id, true), "primary big"), button(t("not-right"), () => answer(p.id, false), "big"), h("div", { class: "pushdown" }), takeOver);
  }
  return page(t("companion-title"), h("p", {}, t("companion-help")), kept ? h("p", { class: "note bad" }, t("still-here", { count: kept })) : "",
    h("div", { class: "pushdown" }), takeOver);
};

// --- doing -------------------------------------------------------------------------------------------------------

export function begin(board, next) {
  if (S.info?.settings.order && next !== undefined && board !== next && !confirm(t("out-of-order", { board, next }))) return;
  go({ at: "contract", board, round: S.round });
}

// Ask the service about the entry, and show it on the other phones of the table. Both can fail; nothing waits for them.
let proposed = "";
function propose(s, f) {
  const id = JSON.stringify([s.board, s.round, f.kind, f.level, f.strain, f.doubling, f.declarer, f.tricks, f.lead, f.ns, f.ew]);
  if (proposed === id) return;
  proposed = id;
  S.notices = [];
  S.pendingId = Math.random().toString(36).slice(2, 12);
  const text = f.kind === KIND.played ? plainText(f) : t("passed-out");
  T.link.pump({ pending: { id: S.pendingId, round: S.round, board: s.board, ns: f.ns, ew: f.ew, text, score: scoreWords(f) } });
  const body = { round: S.round, board: s.board, ns: f.ns, ew: f.ew };
  if (f.kind === KIND.passed) body.contract = "pass";
  else Object.assign(body, { result: { is: "played", contract: `${f.level}${["C", "D", "H", "S", "NT"][f.strain - 1]}${"X".repeat(f.doubling)}`, by: SEATS[f.declarer], tricks: f.tricks, lead: f.lead }, contract: "" });
  api("/table/check", { token, body, timeout: 2500 }).then((found) => {
    const others = found.notices.filter((n) => n.code !== "out-of-order" && n.code !== "entered-before");
    if (proposed === id && others.length) { S.notices = others; if (step().at === "accept") draw(); }
  }).catch(() => {});
}

export function withdraw() {
  if (!proposed) return;
  proposed = "";
  S.notices = [];
  T.link.pump({ pending: null });
}

let accepting = false;
export async function accept(s, f, confirmed, onOtherPhone = false) {
  if (accepting) return;
  accepting = true;
  await ready;
  const { still } = here();
  try {
    const code = document.getElementById("code"), pair = acceptor(s, planRound());
    let fields = { ...f, confirmed: f.confirmed || (confirmed ? 1 : 0), stamp: clockNow() }, proof = "";
    if (confirmed && code && !onOtherPhone) {
      // Without a connection the code can't be looked at; one touch has to do then, and the record says so.
      try {
        const byCode = { ...fields, confirmed: 2 };
        const found = await api("/table/code", { token, body: { pair, code: code.value, body: bodyText(byCode) }, timeout: 4000 });
        if (!still()) return; // they went back to change it
        if (!found.ok) { S.note = { kind: "bad", text: t(found.wait ? "pin-wait" : "code-wrong") }; draw(); return; }
        fields = byCode;
        proof = found.proof;
      } catch (error) {
        if (!still()) return;
        if (error instanceof ApiError) { S.note = { kind: "bad", text: t("code-wrong") }; draw(); return; }
      }
    }
    const refuse = (entries) => (!s.replaces && entries.some((e) => e.fields.board === s.board && e.fields.round === s.round) ? "there" : null);
    let done;
    try {
      done = await T.journal.add(fields, s.replaces || null, refuse);
      if (proof && !done.refused) await T.journal.addTable({ ...fields, what: TABLE.accepted, by: 2 }, packAccepted(pair, fields.stamp, proof));
    } catch { notKept(); return; }
    await refresh();
    withdraw();
    if (done.refused) {
      go({ at: "boards" }, { replace: true });
      S.note = { kind: "warn", text: t("already", { board: s.board }) };
      draw();
      return;
    }
    say(t("waiting-this"));
    go({ at: "stored", board: s.board, round: s.round }, { replace: true });
    T.tabs?.postMessage("records");
    T.link.pump();
  } finally {
    accepting = false;
  }
}

export async function erase(e) {
  if (!confirm(t("erase-sure", { board: e.fields.board }))) return;
  try {
    await T.journal.add({ ...e.fields, kind: KIND.erased, confirmed: 0, stamp: clockNow() }, { journal: e.journal, seq: e.seq }, null);
  } catch { notKept(); return; }
  await refresh();
  T.tabs?.postMessage("records");
  go({ at: "boards" }, { replace: true });
  T.link.pump();
}

function answer(id, yes) {
  T.link.pending = null;
  T.link.pump({ answer: { id, accept: yes } });
  draw();
}

export function callDirector() {
  S.call = S.call ? 0 : 1;
  S.callAt = performance.now();
  ready.then(() => T.link.pump({ call: S.call === 1 ? 1 : 0, round: S.round }));
  draw();
}
