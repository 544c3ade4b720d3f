// Going home: what is left to do, publication, printed sheets and files, the backup to a stick, codes and players.
import { ApiError, api, button, h, said, t, told } from "./base.js";
import { D, act, again, doing, field, get, may, openPanel, post, show, value } from "./desk.js";

const FILES = { ranking: "pdf", travellers: "pdf", scorecards: "pdf", hands: "pdf", usebio: "xml", pbn: "pbn", csv: "csv", bridgewebs: "csv", lines: "jsonl" };

export async function endView() {
  const [items, places, codes] = await Promise.all([get("/checklist"), may("director") ? get("/backup/places") : null, may("director") ? get("/codes") : null]);
  return [checklistCard(items), resultsCard(D.data.event), filesCard(), places ? stickCard(places) : "", codes ? codesCard(codes) : ""];
}

function checklistCard(items) {
  const words = (i) => told("check", i.done ? `${i.key}-done` : i.key, i.words, { count: parseInt(i.words, 10) });
  return h("section", { class: "card" }, h("h2", { tabindex: "-1" }, t("desk.before-going-home")), h("ul", { class: "alerts" }, items.map((i) => h("li", { class: i.done ? "calm" : "" }, h("span", {}, i.done ? "✓ " : "○ ", words(i), i.details.length ? h("div", { class: "small" }, i.details.map(said).join("; ")) : "")))));
}

function resultsCard(e) {
  const until = () => new Date(e.ends_at * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return h("section", { class: "card" }, h("h2", {}, t("results")), e.published_at ? h("p", { class: "note good" }, e.final ? t("desk.published-final") : t("desk.published-until", { time: until() })) : "",
    h("div", { class: "row" }, may("director") && !e.final ? doing(t(e.published_at ? "desk.publish-again" : "desk.publish"), async () => { await act("publish", {}); await again("end"); }, e.published_at ? "" : "primary", { id: "publish" }) : "", h("a", { class: "button", href: "/results" }, t("desk.public-page")), button(t("desk.print-ranking"), async () => { await show("ranking"); print(); })));
}

async function download(path, name) {
  const answer = await fetch(`/api/v1${path}`, { headers: { authorization: `Bearer ${D.token}` } });
  if (!answer.ok) throw new ApiError(answer.status, (await answer.json()).error);
  const url = URL.createObjectURL(await answer.blob());
  const zip = (answer.headers.get("content-type") || "").startsWith("application/zip"); // a file for each kind of section
  Object.assign(document.createElement("a"), { href: url, download: zip ? name.replace(/\.[a-z]+$/, ".zip") : name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  setTimeout(() => { if (D.view === "end") show("end"); }, 800); // the checklist knows of it, if it is still looked at
}

function filesCard() {
  const stamp = new Date().toISOString().slice(0, 10);
  return h("section", { class: "card" }, h("h2", {}, t("desk.files")), h("div", { class: "row" },
    doing(t("file.json"), () => download("/export", `results-${stamp}.json`)),
    Object.entries(FILES).filter(([name]) => name !== "lines" || may("director")).map(([name, ext]) => doing(t(`file.${name}`), () => download(`/files/${name}`, `${name}-${stamp}.${ext}`))),
    may("director") ? doing(t("file.backup"), () => download("/backup", `firmware-bridge-${stamp}.db`)) : ""));
}

// The backup goes to a stick in this computer, where the service runs: one of those that are there, or a folder by name.
function stickCard(places) {
  const written = h("p", { class: "note good", role: "status", hidden: true });
  const size = (bytes) => t("desk.free", { size: bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.floor(bytes / 1e6)} MB` });
  const save = async (folder) => {
    const done = await post("/backup/save", { folder });
    written.textContent = t("desk.backup-written", { path: done.path });
    written.hidden = false;
  };
  return h("section", { class: "card", id: "stick" }, h("h2", {}, t("desk.backup-stick")),
    places.places.length ? h("div", { class: "row" }, places.places.map((p, i) => doing([p.name, " ", h("span", { class: "small soft" }, size(p.free))], () => save(p.path), i ? "" : "primary", { "data-stick": p.path, "aria-label": `${t("desk.backup-to", { name: p.name })}, ${size(p.free)}` }))) : h("p", { class: "soft" }, t("desk.no-stick")),
    field("folder", t("desk.folder"), h("input", { autocomplete: "off", spellcheck: "false", maxlength: 400 })), h("p", { class: "row" }, doing(t("desk.backup-here"), () => save(value("folder").trim()), "", { id: "backuphere" }), button(t("desk.look-again"), () => show("end"))), written);
}

function codesCard(codes) {
  const upload = h("input", { id: "csv", type: "file", accept: ".csv,text/csv" });
  const load = async () => {
    if (!upload.files[0]) return;
    const found = await api("/players", { token: D.token, raw: await upload.files[0].arrayBuffer(), type: "text/csv" });
    openPanel(t("desk.players"), h("p", { class: "note good" }, t("desk.players-loaded", { count: found.players })));
  };
  return h("section", { class: "card" }, h("h2", {}, t("desk.codes-players")), ["assistant", "viewer"].map((role) => h("p", { class: "row" }, h("span", {}, t(`desk.role-${role}`), ": ", h("code", {}, codes[role])), doing(t("desk.new-code"), async () => { await post("/codes/renew", { role }); await again("end"); }, "", { "data-newcode": role, "aria-label": `${t("desk.new-code")}: ${t(`desk.role-${role}`)}` }))), h("label", { for: "csv" }, t("desk.players-file")), upload, " ", doing(t("desk.load"), load));
}
