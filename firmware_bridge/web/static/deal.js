// The dealing screen. It shows counts, board numbers and one next step; no card ever comes to this page.
import { ApiError, api, button, h, hasWords, keepFocus, language, languageChoice, listen, loadWords, newestOnly, store, stored, t, told, whenUntouched } from "./base.js";
import { healthCard, historyCard, setsCard } from "./deal-record.js";

const main = document.getElementById("main"), line = document.getElementById("line");
const looking = newestOnly();
let token = stored("desk") || "", data = null, sounded = "", problem = "", context = null, past = null, source = null;

// What is older than what is on the screen is not taken: an answer may come after the news of what followed from it.
const take = (value) => { if (!data || value.boot !== data.boot || value.n >= data.n) data = value; };
const news = () => whenUntouched("deal", draw);

const send = async (path, body) => { try { problem = ""; take(await api(`/deal${path}`, { token, body })); } catch (error) { problem = error instanceof ApiError ? error.message : t("no-answer"); } draw(); };

function tone(kind) {
  if (!document.getElementById("sound").checked) return;
  document.body.dataset.sound = kind; // for those who look for what was to be heard
  try {
    context ||= new AudioContext();
    context.resume?.();
    const now = context.currentTime, times = kind === "stop" ? [[0, 440], [0.25, 330], [0.5, 440], [0.75, 330]] : [[0, 660], [0.15, 880]];
    for (const [at, pitch] of times) {
      const o = context.createOscillator(), g = context.createGain();
      o.frequency.value = pitch;
      g.gain.setValueAtTime(0.0001, now + at);
      g.gain.exponentialRampToValueAtTime(0.3, now + at + 0.02);
      g.gain.exponentialRampToValueAtTime(0.0001, now + at + 0.2);
      o.connect(g).connect(context.destination);
      o.start(now + at);
      o.stop(now + at + 0.22);
    }
  } catch { /* no sound here: the words are on the screen */ }
}

// The one next step. The service has it in English; in other languages it is put together from its codes.
function stepWords() {
  if (data.error) return data.error;
  if (language === "en" || !hasWords(`do.${data.action}`)) return data.step || t("deal.getting-ready");
  const why = (data.reasons || []).map((code) => `why.${code}`).find(hasWords);
  const what = why ? t(why) : "";
  const where = data.board ? t("board", { board: data.board }) + (data.copies > 1 ? `, ${t("deal.copy", { copy: data.copy || 1 })}` : "") : "";
  return [where && `${where}:`, what && `${what}.`, t(`do.${data.action}`, { board: data.board, made: data.made, planned: data.planned })].filter(Boolean).join(" ");
}

function setup() {
  const wanted = data.wanted, field = (id, words, more) => h("div", {}, h("label", { for: id }, words), h("input", { id, ...more })), number = (id) => Number(document.getElementById(id).value);
  const load = async () => {
    const file = document.getElementById("file").files[0];
    if (!file) return;
    try { problem = ""; take(await api(`/deal/load?name=${encodeURIComponent(file.name)}`, { token, raw: await file.arrayBuffer(), type: "application/octet-stream" })); } catch (error) { problem = error.message; }
    draw();
  };
  return h("section", { class: "card" }, h("h2", {}, data.set ? t("deal.set", data.set) : t("deal.which")),
    wanted ? h("p", { class: "soft" }, t(wanted.copies === 1 ? "deal.wanted-one" : "deal.wanted", wanted)) : "",
    data.set ? h("div", { class: "fields" }, field("copies", t("deal.copies"), { type: "number", min: 1, max: 9, value: wanted?.copies || data.copies }), button(t("deal.start"), () => { tone("done"); send("/start", { copies: number("copies") }); }, "primary big", { id: "startdeal" })) : "",
    h("div", { class: "fields" }, field("first", t("deal.from"), { type: "number", min: 1, max: 999, value: wanted?.first || 1 }), field("last", t("deal.to"), { type: "number", min: 1, max: 999, value: wanted?.last || 24 }), button(t("deal.generate"), () => { if (!data.set || confirm(t("deal.generate-sure"))) send("/generate", { first: number("first"), last: number("last") }); }, data.set ? "" : "primary", { id: "generate" })),
    h("div", { class: "fields" }, field("file", t("deal.file"), { type: "file" }), button(t("deal.load"), load, "", { id: "load" })),
    data.machine ? h("p", { class: "soft small" }, t("deal.machine", { url: data.machine })) : h("p", { class: "note warn" }, t("deal.no-machine")));
}

// What somebody has typed or chosen stays while news comes in.
let before = { key: "", element: null };
function kept() {
  const key = JSON.stringify([data.set, data.wanted, data.machine, language]);
  if (before.key !== key || !before.element) before = { key, element: setup() };
  return before.element;
}

function stage() {
  const total = data.planned || 1, done = data.planned && data.made >= data.planned;
  return h("div", { class: "stage" },
    h("div", {},
      h("div", { class: "number" }, data.board || "–", h("small", {}, data.copy > 1 || data.copies > 1 ? t("deal.copy", { copy: data.copy || 1 }) : t("deal.board"))),
      h("div", { class: `step ${data.stopped ? "stop" : done ? "done" : ""}`, role: data.stopped ? "alert" : "status" }, stepWords()),
      data.action === "confirm_board" ? button(t("deal.confirm"), () => send("/confirm", { board: data.board }), "primary big", { id: "confirm" }) : "",
      h("div", { class: "pockets", role: "group", "aria-label": t("deal.pockets") }, ["N", "E", "S", "W"].map((seat, i) => h("div", { class: `${seat} ${data.pockets[i] === 13 ? "full" : ""}` }, `${seat} ${data.pockets[i]}`)), h("div", { class: "C" }, `${data.cards}/52`))),
    h("div", {},
      h("section", { class: "card" }, h("h2", {}, t("deal.made", data)), h("meter", { min: 0, max: total, value: data.made, "aria-label": t("deal.made", data) }),
        data.line ? "" : h("p", { class: "note bad" }, t("deal.line-down")),
        h("p", {}, data.running ? button(t("deal.stop"), () => send("/stop", {}), "danger", { id: "stop" }) : done ? "" : button(t("deal.go-on"), () => send("/start", { copies: data.copies }), "primary", { id: "goon" }))),
      h("section", { class: "card" }, h("h2", {}, t("boards")), h("div", { class: "made" }, Object.entries(data.boards).map(([name, state]) => h("span", { class: state, title: told("board-state", state, state) }, data.copies > 1 ? name : name.split("/")[0], state === "good" ? " ✓" : ` ${told("board-state", state, state)}`))))));
}

function draw() {
  const sections = [problem ? h("p", { class: "note bad", role: "alert" }, problem) : "", data.running || data.planned ? stage() : "", data.running ? "" : kept(),
    h("div", { class: "past" }, historyCard(data, past), data.running ? "" : setsCard(past), healthCard(past, clean))];
  keepFocus(main, sections.filter(Boolean));
  const now = `${data.step}/${data.sound}`;
  if (now !== sounded && (data.sound === "stop" || data.sound === "done")) { tone(data.sound); document.getElementById("say").textContent = stepWords(); }
  sounded = now;
}

async function clean(machine) {
  if (!confirm(t("deal.cleaned-sure"))) return;
  await api("/deal/cleaned", { token, body: { machine } }).catch((error) => { problem = error.message; });
  await look();
}

// Finished sets, attempts and the machine's figures: read when the screen opens and after each board.
async function look() {
  const mine = looking(), found = await api("/deal/record", { token }).catch(() => past);
  if (mine()) { past = found; news(); }
}

function onEvent(kind, value) {
  if (kind === "cards") { if (value.n >= data.n) Object.assign(data, value); } else if (kind === "deal") {
    const ended = value.made !== data.made || value.running !== data.running || value.stopped !== data.stopped;
    take(value);
    if (ended) look();
  } else return;
  news();
}

async function begin() {
  try { take(await api("/deal", { token })); } catch (error) {
    const input = h("input", { id: "code", autocomplete: "off" });
    main.replaceChildren(h("form", { class: "card", onsubmit: (e) => { e.preventDefault(); token = input.value.trim(); store("desk", token); begin(); } }, h("h2", {}, t("desk-code")), error instanceof ApiError && token ? h("p", { class: "note bad", role: "alert" }, error.message) : "", h("label", { for: "code" }, t("code")), input, h("button", { class: "primary" }, t("open"))));
    return;
  }
  draw();
  look();
  source?.stop();
  source = listen("/stream", token, { onEvent, onState: async (up) => {
    line.replaceChildren(h("span", { class: up ? "tag good" : "tag bad" }, t(up ? "live" : "offline")));
    if (up) { await api("/deal", { token }).then(take, () => {}); news(); }
  } });
}
document.getElementById("language").replaceChildren(languageChoice(() => data && draw()));
loadWords().then(begin);
