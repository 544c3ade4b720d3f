// The phone's own log of what was keyed in, in IndexedDB: a record is written here first, and stays until RECORD_ACK.
// Two tabs share it: numbers are given inside one transaction, so that no number is given twice.

import { crcOf, packBody, packRecord, packTable } from "./record.js";

function wait(request) {
  return new Promise((done, failed) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });
}

function finished(transaction) {
  return new Promise((done, failed) => {
    transaction.oncomplete = () => done();
    transaction.onerror = transaction.onabort = () => failed(transaction.error || new Error("aborted"));
  });
}

function random32() {
  return (crypto.getRandomValues(new Uint32Array(1))[0] || 1) >>> 0;
}

function hex(number) {
  return number.toString(16).padStart(8, "0");
}

function opened(name) {
  const request = indexedDB.open(`firmware-bridge-${name}`, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore("meta");
    request.result.createObjectStore("records", { keyPath: ["journal", "seq"] });
  };
  return wait(request);
}

export class Journal {
  static async open(name) {
    const journal = new Journal(await opened(name), name);
    await journal.#begin();
    navigator.storage?.persist?.().catch(() => {});
    return journal;
  }

  constructor(db, name) {
    this.db = db;
    this.name = name;
  }

  // Some browsers close the log under a page that sleeps, and every use of it fails from then on: it is opened anew. A log
  // that was cleared meanwhile is another one, for which the page begins anew too.
  async #at(stores, mode = "readonly", options = {}) {
    try {
      return this.db.transaction(stores, mode, options);
    } catch (error) {
      if (error.name !== "InvalidStateError") throw error;
    }
    this.db = await opened(this.name);
    if ((await wait(this.db.transaction("meta").objectStore("meta").get("device"))) !== this.device) {
      location.reload();
      throw new Error("the log was cleared");
    }
    return this.db.transaction(stores, mode, options);
  }

  async #begin() {
    const transaction = this.db.transaction("meta", "readwrite");
    const meta = transaction.objectStore("meta");
    const [known, times, begun] = await Promise.all(["device", "boots", "journal"].map((name) => wait(meta.get(name))));
    const device = known || hex(random32()) + hex(random32()), boots = (times || 0) + 1;
    meta.put(device, "device");
    meta.put(boots, "boots");
    if (!begun) {
      meta.put(random32(), "journal");
      meta.put(1, "next");
    }
    await finished(transaction);
    this.device = device;
    this.boots = boots;
    this.boot = random32();
  }

  async get(name) {
    return wait((await this.#at("meta")).objectStore("meta").get(name));
  }

  async put(name, value) {
    const transaction = await this.#at("meta", "readwrite");
    transaction.objectStore("meta").put(value, name);
    await finished(transaction);
  }

  // Change a value in one transaction, so that two tabs do not write over each other. work(before) gives what is after.
  async change(name, work) {
    const transaction = await this.#at("meta", "readwrite", { durability: "strict" });
    const meta = transaction.objectStore("meta");
    meta.put(work(await wait(meta.get(name))), name);
    await finished(transaction);
  }

  // Several values and all records at once: one transaction where a slow phone would wait for six.
  async load(names) {
    const transaction = await this.#at(["meta", "records"]), meta = transaction.objectStore("meta");
    const found = await Promise.all([...names.map((name) => wait(meta.get(name))), wait(transaction.objectStore("records").getAll())]);
    const records = found.pop().sort((a, b) => a.order - b.order);
    return { records, ...Object.fromEntries(names.map((name, at) => [name, found[at] ?? null])) };
  }

  async all() {
    const records = await wait((await this.#at("records")).objectStore("records").getAll());
    return records.sort((a, b) => a.order - b.order);
  }

  // Append a record. replaces: an earlier record of this log, or null. check(entries) may refuse by returning a word.
  async add(fields, replaces, check) {
    const transaction = await this.#at(["meta", "records"], "readwrite", { durability: "strict" });
    const meta = transaction.objectStore("meta"), records = transaction.objectStore("records");
    const all = (await wait(records.getAll())).sort((a, b) => a.order - b.order);
    const refused = check ? check(entriesOf(all)) : null;
    if (refused) {
      transaction.abort();
      return { refused };
    }
    const journal = await wait(meta.get("journal")), seq = await wait(meta.get("next"));
    const back = replaces && replaces.journal === journal ? seq - replaces.seq : 0;
    const values = { ...fields, replaces: back > 0 && back < 256 ? back : 0 };
    const bytes = packRecord(this.device, journal, seq, packBody(values));
    const record = { journal, seq, fields: values, bytes, acked: false, order: all.length ? all[all.length - 1].order + 1 : 1 };
    records.put(record);
    meta.put(seq + 1, "next");
    await finished(transaction);
    return { record };
  }

  // Append what a table records beside its results: data are its bytes, fields as packTable takes them.
  async addTable(fields, data) {
    const transaction = await this.#at(["meta", "records"], "readwrite", { durability: "strict" });
    const meta = transaction.objectStore("meta"), records = transaction.objectStore("records");
    const order = Math.max(0, ...(await wait(records.getAll())).map((r) => r.order)) + 1;
    const journal = await wait(meta.get("journal")), seq = await wait(meta.get("next"));
    records.put({ journal, seq, what: fields.what, fields, data: [...data], bytes: packTable(this.device, journal, seq, fields, data), acked: false, order });
    meta.put(seq + 1, "next");
    await finished(transaction);
  }

  async acknowledge(journal, upto) {
    const transaction = await this.#at("records", "readwrite");
    const records = transaction.objectStore("records");
    for (const record of await wait(records.getAll())) {
      if (record.journal === journal && record.seq <= upto && !record.acked) {
        record.acked = true;
        records.put(record);
      }
    }
    await finished(transaction);
  }

  // True when the record that the host has under this number is not ours. crc: of the host's record, if it said.
  async differs(journal, seq, crc) {
    const own = (await this.all()).find((r) => r.journal === journal && r.seq === seq && !r.acked);
    return own !== undefined && crc !== undefined && crcOf(own.bytes) !== crc;
  }

  // The host knows this number of a journal with other contents: a new journal, and what it has not taken goes there.
  // Another tab that heard the same may have begun the new one already.
  async renew(refused) {
    const transaction = await this.#at(["meta", "records"], "readwrite", { durability: "strict" });
    const meta = transaction.objectStore("meta"), records = transaction.objectStore("records");
    if ((await wait(meta.get("journal"))) !== refused) return;
    const all = (await wait(records.getAll())).sort((a, b) => a.order - b.order);
    const journal = random32(), moved = new Map();
    let seq = 1;
    for (const old of all.filter((r) => !r.acked)) {
      if (old.what) {
        records.delete([old.journal, old.seq]);
        records.put({ ...old, journal, seq, bytes: packTable(this.device, journal, seq, old.fields, Uint8Array.from(old.data)) });
        seq += 1;
        continue;
      }
      const target = old.fields.replaces ? moved.get(`${old.journal}/${old.seq - old.fields.replaces}`) : undefined;
      const fields = { ...old.fields, replaces: target ? seq - target : 0 };
      if (fields.kind === 4 && !fields.replaces) continue; // it erased what the host has under another number: the desk decides
      records.delete([old.journal, old.seq]);
      records.put({ ...old, journal, seq, fields, bytes: packRecord(this.device, journal, seq, packBody(fields)) });
      moved.set(`${old.journal}/${old.seq}`, seq);
      seq += 1;
    }
    meta.put(journal, "journal");
    meta.put(seq, "next");
    await finished(transaction);
  }

  async hello() {
    const { journal, next, records } = await this.load(["journal", "next"]);
    const owed = records.filter((r) => r.journal === journal && !r.acked).map((r) => r.seq);
    return { boot_id: this.boot, boot_count: this.boots, journal_id: journal, oldest_unacked: owed.length ? Math.min(...owed) : 0, next_seq: next };
  }
}

// What is entered here now: each entry by its first record, corrected and erased as the later ones say.
export function entriesOf(records) {
  const roots = new Map(), live = new Map();
  for (const record of records) {
    if (record.what) continue;
    const name = `${record.journal}/${record.seq}`;
    const named = record.fields.replaces ? `${record.journal}/${record.seq - record.fields.replaces}` : null;
    const root = named ? roots.get(named) || named : name;
    roots.set(name, root);
    if (record.fields.kind === 4) live.delete(root);
    else live.set(root, record);
  }
  return [...live.values()];
}
