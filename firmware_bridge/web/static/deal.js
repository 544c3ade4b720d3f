// The dealing screen. It shows counts, board numbers and one next step; no card ever comes to this page.
import { ApiError, api, button, h, listen, store, stored } from "./base.js";

const main = document.getElementById("main"), line = document.getElementById("line");
let token = stored("desk") || "", data = null, heard = "", problem = "", context = null;

const send = async (path, body) => { try { problem = ""; data = await api(`/deal${path}`, { token, body }); } catch (error) { problem = error instanceof ApiError ? error.message : "The service does not answer."; } draw(); };

function tone(kind) {
  if (!document.getElementById("sound").checked) return;
  try {
    context ||= new AudioContext();
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

function setup() {
  const wanted = data.wanted, first = h("input", { id: "first", type: "number", min: 1, max: 999, value: wanted?.first || 1 }), last = h("input", { id: "last", type: "number", min: 1, max: 999, value: wanted?.last || 24 }), copies = h("input", { id: "copies", type: "number", min: 1, max: 9, value: wanted?.copies || data.copies }), file = h("input", { id: "file", type: "file" });
  return h("section", { class: "card" }, h("h2", {}, data.set ? `Set ${data.set.id}: boards ${data.set.first} to ${data.set.last}` : "Which deals?"),
    wanted ? h("p", { class: "soft" }, `The movement needs boards ${wanted.first} to ${wanted.last}, ${wanted.copies === 1 ? "one copy" : `${wanted.copies} copies`} of each.`) : "",
    h("div", { class: "fields" }, h("div", {}, h("label", { for: "first" }, "From board"), first), h("div", {}, h("label", { for: "last" }, "to"), last), button("New random deals", () => { if (!data.set || confirm("Take new deals? The set above is kept, but this screen forgets it.")) send("/generate", { first: Number(first.value), last: Number(last.value) }); }, data.set ? "" : "primary", { id: "generate" })),
    h("div", { class: "fields" }, h("div", {}, h("label", { for: "file" }, "or a deal file (PBN, DUP, LIN …)"), file), button("Load", async () => { if (!file.files[0]) return; try { problem = ""; data = await api(`/deal/load?name=${encodeURIComponent(file.files[0].name)}`, { token, raw: await file.files[0].arrayBuffer(), type: "application/octet-stream" }); } catch (error) { problem = error.message; } draw(); })),
    data.set ? h("div", { class: "fields" }, h("div", {}, h("label", { for: "copies" }, "Copies of each board"), copies), button("Start dealing", () => { tone("done"); send("/start", { copies: Number(copies.value) }); }, "primary", { id: "startdeal" })) : "",
    data.machine ? h("p", { class: "soft small" }, `Machine: ${data.machine}`) : h("p", { class: "note warn" }, "No dealing machine is named. Start the service with --machine URL."));
}

// What somebody has typed or chosen stays while news comes in.
let before = { key: "", element: null };
function kept() {
  const key = JSON.stringify([data.set, data.wanted, data.machine]);
  if (before.key !== key || !before.element) before = { key, element: setup() };
  return before.element;
}

function stage() {
  const total = data.planned || 1, done = data.planned && data.made >= data.planned;
  return h("div", { class: "stage" },
    h("div", {},
      h("div", { class: "number" }, data.board || "–", h("small", {}, data.copy > 1 || data.copies > 1 ? `copy ${data.copy || 1}` : "board")),
      h("div", { class: `step ${data.stopped ? "stop" : done ? "done" : ""}`, role: data.stopped ? "alert" : "status" }, data.error || data.step || "Getting ready."),
      data.action === "confirm_board" ? button("Yes, this is the board", () => send("/confirm", {}), "primary", { id: "confirm" }) : "",
      h("div", { class: "pockets", "aria-label": "Cards in each pocket" }, ["N", "E", "S", "W"].map((seat, i) => h("div", { class: `${seat} ${data.pockets[i] === 13 ? "full" : ""}` }, `${seat} ${data.pockets[i]}`)), h("div", { class: "C" }, `${data.cards}/52`))),
    h("div", {},
      h("section", { class: "card" }, h("h2", {}, `${data.made} of ${data.planned} boards`), h("meter", { min: 0, max: total, value: data.made, "aria-label": `${data.made} of ${data.planned} boards are made` }),
        data.line ? "" : h("p", { class: "note bad" }, "The machine is gone. Check cable and power."),
        h("p", {}, data.running ? button("Stop", () => send("/stop", {}), "danger", { id: "stop" }) : button("Go on", () => send("/start", { copies: data.copies }), "primary"))),
      h("section", { class: "card" }, h("h2", {}, "Boards"), h("div", { class: "made" }, Object.entries(data.boards).map(([name, state]) => h("span", { class: state, title: state }, data.copies > 1 ? name : name.split("/")[0], state === "good" ? " ✓" : ` ${state}`)))),
      h("section", { class: "card small" }, h("h2", {}, "History"), h("ol", { reversed: true }, [...data.history].reverse().slice(0, 12).map((x) => h("li", {}, `Board ${x.board}${x.copy > 1 ? `/${x.copy}` : ""}: ${x.state}${x.reasons.length ? ` (${x.reasons.join(", ")})` : ""}`))))));
}

function draw() {
  const focus = document.activeElement?.id;
  main.replaceChildren(problem ? h("p", { class: "note bad", role: "alert" }, problem) : "", data.running || data.planned ? stage() : "", data.running ? "" : kept());
  if (focus) document.getElementById(focus)?.focus();
  const now = `${data.step}/${data.sound}`;
  if (now !== heard && (data.sound === "stop" || data.sound === "done")) { tone(data.sound); document.getElementById("say").textContent = data.step; }
  heard = now;
}

async function begin() {
  try { data = await api("/deal", { token }); } catch (error) {
    const input = h("input", { id: "code", autocomplete: "off" });
    main.replaceChildren(h("form", { class: "card", onsubmit: (e) => { e.preventDefault(); token = input.value.trim(); store("desk", token); begin(); } }, h("h2", {}, "The desk's code"), error instanceof ApiError && token ? h("p", { class: "note bad" }, error.message) : "", h("label", { for: "code" }, "Code"), input, h("button", { class: "primary" }, "Open")));
    return;
  }
  draw();
  listen("/stream", token, { onEvent: (kind, value) => { if (kind === "deal") { data = value; draw(); } else if (kind === "cards") { Object.assign(data, value); draw(); } }, onState: async (up) => { line.replaceChildren(h("span", { class: up ? "tag good" : "tag bad" }, up ? "live" : "no connection")); if (up) { data = await api("/deal", { token }).catch(() => data); draw(); } } });
}
begin();
