// What every page uses: elements, words, requests with a token, a stream that resumes. No page asks any other server.

export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(5).filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";
export function svg(tag, props = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) element.setAttribute(name, String(value));
  element.append(...children.flat(5).filter(Boolean));
  return element;
}

export function button(label, onclick, kind = "", more = {}) {
  return h("button", { type: "button", class: kind, onclick, ...more }, label);
}

// New content for a place, with the focus where it was: on the element with the same id, else on the one that says the
// same in the same line, else at the same position if no other button has come there.
// typed: what somebody has typed into a field with an id stays in it.
export function keepFocus(place, content, { typed = false } = {}) {
  const filled = typed ? [...place.querySelectorAll("input[id], textarea[id]")].filter((one) => one.value !== one.defaultValue).map((one) => [one.id, one.value]) : [];
  const able = () => [...place.querySelectorAll("h1, h2, button, input, select, textarea, a, summary, [tabindex]")];
  const says = (one) => `${one.tagName} ${one.getAttribute("aria-label") || one.textContent}`, within = (one) => `${says(one)} ${one.closest("li, tr")?.textContent || ""}`;
  const active = document.activeElement, at = place.contains(active) ? able().indexOf(active) : -1, name = active?.id, words = at >= 0 ? [says(active), within(active)] : [];
  place.replaceChildren(...content);
  for (const [id, value] of filled) {
    const field = document.getElementById(id);
    if (field) field.value = value;
  }
  if (at < 0) return;
  const now = able(), there = now[at] && (now[at].tagName !== "BUTTON" || says(now[at]) === words[0]) ? now[at] : now[0];
  ((name && document.getElementById(name)) || now.find((one) => within(one) === words[1]) || there)?.focus({ preventScroll: true });
}

// News redraws nothing between finger down and finger up: a button that is put anew in that moment would lose the touch.
// Only the last drawing of each name is done, once the finger is up and its click has come.
const held = new Map();
let touchedAt = null;
addEventListener("pointerdown", () => { touchedAt = performance.now(); }, true);
for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, () => setTimeout(lifted, 50), true);
function lifted() {
  touchedAt = null;
  const due = [...held.values()];
  held.clear();
  due.forEach((work) => work());
}
export function whenUntouched(name, work) {
  if (touchedAt === null || performance.now() - touchedAt > 2000) {
    held.delete(name);
    work();
  } else {
    if (!held.size) setTimeout(lifted, 2000);
    held.set(name, work);
  }
}

// Answers may come in another order than their questions were asked: of each kind only the newest counts.
// const mine = newest(); … if (!mine()) return;
export function newestOnly() {
  let last = 0;
  return () => { const own = ++last; return () => own === last; };
}

// --- words ---
// The page carries the words of the language that the browser asks for; another one that was chosen here is fetched.

const block = JSON.parse(document.getElementById("words")?.textContent || "{}");
let words = block.words || {};
export let language = block.language || "en";
export const languages = block.languages || [];

const choosing = newestOnly();
export async function loadWords(wanted) {
  const mine = choosing();
  const found = [wanted, stored("lang"), language].filter(Boolean).find((one) => languages.some((known) => known.code === one));
  if (found && found !== language) {
    try {
      const more = await fetch(`/messages/${found}.json`).then((answer) => (answer.ok ? answer.json() : Promise.reject(answer)));
      if (!mine()) return languages;
      words = { ...words, ...more };
      language = found;
    } catch { /* no connection: the words that the page came with stay */ }
  }
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
  return languages;
}

export function t(key, values = {}) {
  let text = words[key] ?? key;
  for (const [name, value] of Object.entries(values)) text = text.replaceAll(`{${name}}`, String(value ?? ""));
  return text;
}

export const hasWords = (key) => key in words;

// What the service says, in the words of the page if they have a key for its code, else as it said it.
export function told(prefix, code, text, values = {}) {
  const key = `${prefix}.${code}`;
  return key in words ? t(key, values) : text || String(code);
}

// Sentences of the program about seats and movements in the words of the page: a whole sentence with its places ("said."
// and its English words, {a} {b} ... where something stands), else phrase by phrase; what has no words there stays.
const sentences = new Map();
function sentencesOf(prefix) {
  const name = `${language} ${prefix}`;
  if (sentences.has(name)) return sentences.get(name);
  const keys = Object.keys(words).filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length)).sort((a, b) => b.length - a.length), whole = (one) => one.includes("{") || one.endsWith(".");
  const escaped = (one) => one.replace(/[.*+?^$()|[\]\\/]/g, "\\$&"), phrases = keys.filter((one) => !whole(one));
  const found = {
    list: keys.filter(whole).map((one) => [new RegExp(`^${escaped(one).replace(/\{\w\}/g, "(.+?)")}$`), one.match(/\{\w\}/g) || [], words[`${prefix}${one}`]]),
    phrases: phrases.length ? new RegExp(`\\b(?:${phrases.map(escaped).join("|")})\\b`, "g") : null,
  };
  sentences.set(name, found);
  return found;
}

function inWords(text, prefix) {
  if (language === "en" || !text) return text;
  const parts = text.split(/\.\s+(?=[A-Z\d])/), { list, phrases } = sentencesOf(prefix);
  if (parts.length > 1) return parts.map((one, at) => inWords(at < parts.length - 1 ? `${one}.` : one, prefix)).join(" ");
  for (const [pattern, places, found] of list) {
    const match = pattern.exec(text);
    if (match) return places.reduce((out, place, at) => out.replace(place, () => inWords(match[at + 1], prefix)), found);
  }
  return phrases ? text.replace(phrases, (found) => words[`${prefix}${found}`]) : text;
}
export const said = (text) => inWords(text, "said.");
// What a terminal is told: whole sentences of the program; what the director has typed stays as it is.
export const heard = (text) => inWords(text, "heard.");

export function languageChoice(changed) {
  return h("select", { id: "lang", "aria-label": t("language"), onchange: async (e) => { store("lang", e.target.value); await loadWords(e.target.value); changed(); } },
    languages.map((one) => h("option", { value: one.code, selected: one.code === language, lang: one.code }, one.name)));
}

// --- small memory that may be forbidden ---

export function stored(name) {
  try { return localStorage.getItem(`fb-${name}`); } catch { return null; }
}
export function store(name, value) {
  try {
    if (value === null) localStorage.removeItem(`fb-${name}`);
    else localStorage.setItem(`fb-${name}`, value);
  } catch { /* private mode: it is asked again next time */ }
}

// --- requests ---

export class ApiError extends Error {
  constructor(status, error) {
    const whole = [error.where, error.what, error.next].filter(Boolean).map(said).join(" ");
    // In English the service's own words, which know more; in other languages those for its code.
    const own = language === "en" && error.what;
    super(own ? whole : told("error", error.code, whole));
    this.status = status;
    this.code = error.code;
    this.what = own ? error.what : told("error", error.code, said(error.what));
  }
}

export async function api(path, { token, body, method, raw, type, key, timeout = 15000 } = {}) {
  const headers = key ? { "idempotency-key": key } : {};
  if (token) headers.authorization = `Bearer ${token}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  if (raw !== undefined) headers["content-type"] = type;
  const aborter = new AbortController();
  const timer = setTimeout(() => aborter.abort(), timeout);
  try {
    const answer = await fetch(`/api/v1${path}`, {
      method: method || (body !== undefined || raw !== undefined ? "POST" : "GET"),
      headers, body: body !== undefined ? JSON.stringify(body) : raw, signal: aborter.signal, cache: "no-store",
    });
    const value = await answer.json();
    if (!answer.ok) throw new ApiError(answer.status, value.error || { code: "http", what: answer.statusText });
    return value;
  } finally {
    clearTimeout(timer);
  }
}

// Server-sent events read by fetch, because an EventSource can't carry the token in a header.
export function listen(path, token, { onEvent, onState = () => {}, lastId = null }) {
  let stopped = false, last = lastId, wait = 1000, aborter = null;
  async function once() {
    // Silence ends this connection and never a later one; it also ends one that is not answered at all.
    const own = aborter = new AbortController();
    let silence = null;
    const heard = () => { clearTimeout(silence); silence = setTimeout(() => own.abort(), 40000); };
    try {
      heard();
      const headers = { authorization: `Bearer ${token}` };
      if (last !== null) headers["last-event-id"] = last;
      const answer = await fetch(`/api/v1${path}`, { headers, signal: own.signal, cache: "no-store" });
      if (!answer.ok) throw new ApiError(answer.status, { code: "stream" });
      if (stopped) return;
      onState(true);
      wait = 1000;
      const reader = answer.body.getReader(), decoder = new TextDecoder();
      let text = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        heard();
        text += decoder.decode(value, { stream: true });
        let end;
        while (!stopped && (end = text.indexOf("\n\n")) >= 0) {
          const event = { kind: "message", data: "" };
          for (const line of text.slice(0, end).split("\n")) {
            if (line.startsWith("id: ")) last = line.slice(4);
            else if (line.startsWith("event: ")) event.kind = line.slice(7);
            else if (line.startsWith("data: ")) event.data += line.slice(6);
          }
          text = text.slice(end + 2);
          if (event.data) onEvent(event.kind, JSON.parse(event.data));
        }
        if (stopped) return;
      }
    } finally {
      clearTimeout(silence);
    }
  }
  async function run() {
    while (!stopped) {
      let error = null;
      try { await once(); } catch (thrown) { error = thrown; }
      if (stopped) return;
      if (error instanceof ApiError && [401, 403].includes(error.status)) { onState(false, error); return; }
      onState(false);
      await new Promise((go) => setTimeout(go, wait));
      wait = Math.min(wait * 1.7, 8000);
    }
  }
  run();
  return { stop() { stopped = true; aborter?.abort(); } };
}

// --- bridge words ---

export const SUITS = { C: "♣", D: "♦", H: "♥", S: "♠", N: "NT" };
export function strain(letter) {
  return h("span", { class: letter === "D" || letter === "H" ? "red" : "" }, SUITS[letter]);
}
const RESULTS = { Pass: "pass", "Not played": "not-played", Assigned: "assigned", "Assigned (split)": "assigned-split" };
export function contractText(text) {
  // "4HX N+1" with suit symbols, the red ones red
  const match = /^([1-7])(NT|[CDHS])(X{0,2})(.*)$/.exec(text || "");
  if (!match) return [RESULTS[text] ? t(RESULTS[text]) : text || ""];
  return [match[1], strain(match[2][0]), match[3], match[4]];
}
export function signed(score) {
  return score === null || score === undefined ? "" : score > 0 ? `+${score}` : score === 0 ? "0" : `−${-score}`;
}
