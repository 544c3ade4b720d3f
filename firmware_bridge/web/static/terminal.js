// The terminal of one table: it opens the phone's log, connects, and takes the news; the screens are in modules beside it.
import { ApiError, api, button, h, heard, loadWords, store, stored, t } from "./base.js";
import { Connection } from "./connection.js";
import { Journal } from "./journal.js";
import { flushNames } from "./people.js";
import { accept, withdraw } from "./terminal-entry.js";
import { draw, fieldsOf, isReady, news, ready, refresh, S, say, screenPlace, step, T, take, token, waiting } from "./terminal-state.js";
import "./terminal-looks.js";
import "./terminal-play.js";

addEventListener("popstate", () => { withdraw(); draw(true); });

// --- news --------------------------------------------------------------------------------------------------------

function setClock(clock) {
  S.clock = clock ? { round: clock.round, until: Date.now() + clock.left * 1000 } : null;
}
setInterval(() => {
  const place = document.getElementById("clock"), left = S.clock ? Math.round((S.clock.until - Date.now()) / 1000) : null;
  place.hidden = left === null || left < -3600;
  if (place.hidden) return;
  place.textContent = `${left < 0 ? "−" : ""}${Math.floor(Math.abs(left) / 60)}:${String(Math.abs(left) % 60).padStart(2, "0")}`;
  place.className = left < 0 ? "small tag bad" : left < 180 ? "small tag warn" : "small tag";
}, 1000);

async function onMessage(m) {
  if (m.kind === "ADMIT") {
    S.admit = m;
    if (m.admitted === 1) T.link.takeOver = false;
    if (m.text && m.admitted === 1) S.note = { kind: "warn", text: heard(m.text) };
  } else if (m.kind === "TABLE_PLAN") {
    S.plan = m;
    T.link.planVersion = m.version;
    await T.journal.put("plan", m).catch(() => {}); // a full memory: it is told again after a reload
    if (loading) due = m.version; // what is being fetched may be of the plan before
    else if (infoVersion !== m.version) loadInfo();
    T.link.again = true;
  } else if (m.kind === "TEXT") message(m);
  else if (m.kind === "CALL_STATE_TOLD") {
    S.call = m.state === 1 || m.state === 2 ? m.state : 0;
    S.callAt = performance.now();
  }
  else if (m.kind === "CLOCK") setClock(m.clock);
  else if (m.kind === "PENDING") T.link.pending = m.result;
  else if (m.kind === "ANSWER" && m.id === S.pendingId && step().at === "accept") {
    if (m.accept) await accept(step(), fieldsOf(step()), true, true);
    else S.note = { kind: "bad", text: t("other-refused") };
  }
}

function message(m) {
  m.text = heard(m.text);
  say(m.text);
  if (!m.urgent) { S.note = { kind: "", text: m.text }; return; }
  const box = h("dialog", { "aria-labelledby": "message" }, h("h2", { id: "message" }, t("message")), h("p", {}, m.text), button(t("read"), () => box.close(), "primary big"));
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
}

async function onState() {
  if (T.link.known && T.link.online && infoVersion === null && !loading) loadInfo();
  if (T.link.known && T.link.online && Object.keys(S.namesDue).length) await flushNames(T.journal, token);
  await refresh();
  news();
}

// One question at a time, so that no older answer comes after a newer one; due: the plan that came meanwhile.
let loading = null, infoVersion = null, due = null;
function loadInfo(asked = null) {
  if (loading) return loading;
  loading = readInfo(asked).finally(() => {
    loading = null;
    const again = due !== null && due !== infoVersion;
    due = null;
    if (again) loadInfo();
  });
  return loading;
}
T.askInfo = () => { loadInfo(); };

async function readInfo(asked) {
  const began = asked ? 0 : performance.now();
  try {
    const found = await (asked || api("/table", { token }));
    if (found instanceof Error) throw found;
    S.info = found;
    infoVersion = found.plan?.version ?? 0;
    for (const [pair, names] of Object.entries(S.namesDue)) S.info.names[pair] = names.players.map((p) => p.name);
    if (S.callAt <= began) S.call = S.info.call === 3 ? 0 : S.info.call; // else it was asked before the call
    setClock(found.clock);
    if (!S.plan && found.plan) S.plan = found.plan; // to look at; what is kept is the plan that the messages bring
    delete found.plan;
    await T.journal.put("info", S.info).catch(() => {});
    news();
  } catch (error) {
    if (error instanceof ApiError && [401, 403].includes(error.status)) T.link.pump(); // what the card is still good for
  }
}

// --- start -------------------------------------------------------------------------------------------------------

if (T.tabs) T.tabs.onmessage = async () => {
  await ready;
  S.round = (await T.journal.get("round")) || 1;
  T.link.round = S.round;
  await refresh();
  news();
};

function firstSight(found) {
  if (T.journal || found instanceof Error || found.held || !found.plan) return;
  S.info = { ...found, plan: undefined };
  S.plan = found.plan;
  draw(true);
}

function noMemory() {
  screenPlace.dataset.at = T.shown = "noMemory";
  screenPlace.replaceChildren(h("h1", {}, t("no-memory")), h("p", {}, t("no-memory-help")));
}

async function main() {
  const asked = api("/table", { token }).catch((error) => error);
  const opening = Journal.open(token).catch(() => null);
  await loadWords();
  // A phone that was never here has nothing in its log: it shows the round as soon as the service has told it, while
  // the log is still being opened. One that was here waits for what its log says.
  if (!stored(`seen-${token}`)) asked.then(firstSight);
  // Some browsers neither open their memory nor say that they can't: said after a while, and taken back if it opens.
  const told = setTimeout(noMemory, 10000);
  T.journal = await opening;
  clearTimeout(told);
  if (!T.journal) { noMemory(); return; }
  const loaded = await T.journal.load(["info", "plan", "round", "people-due"]);
  S.info = loaded.info || S.info;
  S.plan = loaded.plan || S.plan;
  S.round = loaded.round || 1;
  take(loaded);
  store(`seen-${token}`, "1");
  T.link = new Connection(token, T.journal, { onMessage, onState });
  T.link.round = S.round;
  T.link.planVersion = S.plan?.version || 0;
  isReady();
  if (!history.state) history.replaceState({ at: "round" }, "");
  navigator.getBattery?.().then((b) => { const level = () => { T.link.battery = Math.round(b.level * 100); }; level(); b.addEventListener("levelchange", level); }).catch(() => {});
  draw(T.shown === "");
  await Promise.all([loadInfo(asked), T.link.pump()]);
  draw();
}
addEventListener("beforeunload", (event) => { if (waiting() && !T.link.online) event.preventDefault(); });
main();
