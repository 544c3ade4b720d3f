// The terminal of one table: it opens the phone's log, connects, and takes the news; the screens are in modules beside it.
import { ApiError, api, button, h, loadWords, store, stored, t } from "./base.js";
import { Connection } from "./connection.js";
import { Journal } from "./journal.js";
import { flushNames } from "./people.js";
import { accept, withdraw } from "./terminal-entry.js";
import { draw, fieldsOf, isReady, news, refresh, S, say, screenPlace, step, T, take, token, waiting } from "./terminal-state.js";
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
    if (m.text && m.admitted === 1) S.note = { kind: "warn", text: m.text };
  } else if (m.kind === "TABLE_PLAN") {
    S.plan = m;
    T.link.planVersion = m.version;
    await T.journal.put("plan", m);
    if (Date.now() - infoAt > 3000) loadInfo(); // what came a moment ago is of this plan
    T.link.again = true;
  } else if (m.kind === "TEXT") message(m);
  else if (m.kind === "CALL_STATE_TOLD") S.call = m.state === 1 || m.state === 2 ? m.state : 0;
  else if (m.kind === "CLOCK") setClock(m.clock);
  else if (m.kind === "PENDING") T.link.pending = m.result;
  else if (m.kind === "ANSWER" && m.id === S.pendingId && step().at === "accept") {
    if (m.accept) await accept(step(), fieldsOf(step()), true, true);
    else S.note = { kind: "bad", text: t("other-refused") };
  }
}

function message(m) {
  say(m.text);
  if (!m.urgent) { S.note = { kind: "", text: m.text }; return; }
  const box = h("dialog", { "aria-labelledby": "message" }, h("h2", { id: "message" }, t("message")), h("p", {}, m.text), button(t("read"), () => box.close(), "primary big"));
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
}

async function onState() {
  if (T.link.online && Object.keys(S.namesDue).length) await flushNames(T.journal, token);
  await refresh();
  news();
}

let infoAt = 0;
async function loadInfo(asked = null) {
  try {
    const found = await (asked || api("/table", { token }));
    if (found instanceof Error) throw found;
    S.info = found;
    infoAt = Date.now();
    for (const [pair, due] of Object.entries(S.namesDue)) S.info.names[pair] = due.players.map((p) => p.name);
    S.call = S.info.call === 3 ? 0 : S.info.call;
    setClock(found.clock);
    if (!S.plan && found.plan) S.plan = found.plan; // to look at; what is kept is the plan that the messages bring
    delete found.plan;
    await T.journal.put("info", S.info);
    news();
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) { T.link.refused = true; news(); }
  }
}

// --- start -------------------------------------------------------------------------------------------------------

if (T.tabs) T.tabs.onmessage = async () => {
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

async function main() {
  const asked = api("/table", { token }).catch((error) => error);
  const opening = Journal.open(token).catch(() => null);
  await loadWords();
  // A phone that was never here has nothing in its log: it shows the round as soon as the service has told it, while
  // the log is still being opened. One that was here waits for what its log says.
  if (!stored(`seen-${token}`)) asked.then(firstSight);
  T.journal = await opening;
  if (!T.journal) {
    screenPlace.replaceChildren(h("h1", {}, t("no-memory")), h("p", {}, t("no-memory-help")));
    return;
  }
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
