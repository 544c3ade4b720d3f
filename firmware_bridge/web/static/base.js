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

// --- words ---

let words = {};
export let language = "en";

export async function loadWords(wanted) {
  const [known, english] = await Promise.all(["index", "en"].map((name) => fetch(`/messages/${name}.json`).then((r) => r.json())));
  const asked = [wanted, stored("lang"), ...(navigator.languages || [navigator.language || "en"])];
  language = asked.filter(Boolean).map((l) => l.slice(0, 2).toLowerCase()).find((l) => known.some((k) => k.code === l)) || "en";
  words = language === "en" ? english : { ...english, ...(await (await fetch(`/messages/${language}.json`)).json()) };
  document.documentElement.lang = language;
  return known;
}

export function t(key, values = {}) {
  let text = words[key] ?? key;
  for (const [name, value] of Object.entries(values)) text = text.replaceAll(`{${name}}`, String(value));
  return text;
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
    super([error.where, error.what, error.next].filter(Boolean).join(" "));
    this.status = status;
    this.code = error.code;
    this.what = error.what;
  }
}

export async function api(path, { token, body, method, raw, type, timeout = 15000 } = {}) {
  const headers = {};
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
  async function run() {
    while (!stopped) {
      try {
        aborter = new AbortController();
        const headers = { authorization: `Bearer ${token}` };
        if (last !== null) headers["last-event-id"] = last;
        const answer = await fetch(`/api/v1${path}`, { headers, signal: aborter.signal, cache: "no-store" });
        if (!answer.ok) throw new ApiError(answer.status, { code: "stream" });
        onState(true);
        wait = 1000;
        const reader = answer.body.getReader(), decoder = new TextDecoder();
        let text = "";
        let silence = setTimeout(() => aborter.abort(), 40000);
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          clearTimeout(silence);
          silence = setTimeout(() => aborter.abort(), 40000);
          text += decoder.decode(value, { stream: true });
          let end;
          while ((end = text.indexOf("\n\n")) >= 0) {
            const event = { kind: "message", data: "" };
            for (const line of text.slice(0, end).split("\n")) {
              if (line.startsWith("id: ")) last = line.slice(4);
              else if (line.startsWith("event: ")) event.kind = line.slice(7);
              else if (line.startsWith("data: ")) event.data += line.slice(6);
            }
            text = text.slice(end + 2);
            if (event.data) onEvent(event.kind, JSON.parse(event.data));
          }
        }
        clearTimeout(silence);
      } catch (error) {
        if (stopped) return;
        if (error instanceof ApiError && [401, 403].includes(error.status)) { onState(false, error); return; }
      }
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
export function contractText(text) {
  // "4HX N+1" with suit symbols, the red ones red
  const match = /^([1-7])(NT|[CDHS])(X{0,2})(.*)$/.exec(text || "");
  if (!match) return [text || ""];
  return [match[1], strain(match[2][0]), match[3], match[4]];
}
export function signed(score) {
  return score === null || score === undefined ? "" : score > 0 ? `+${score}` : score === 0 ? "0" : `−${-score}`;
}
