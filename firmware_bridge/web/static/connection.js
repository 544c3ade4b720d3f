// The page as a device: it introduces itself, posts records until they are acknowledged, takes messages as they come.

import { ApiError, api, listen } from "./base.js";
import { clockNow } from "./record.js";

const BEAT_MS = 15000;

export class Connection {
  constructor(token, journal, { onMessage, onState }) {
    this.token = token;
    this.journal = journal;
    this.onMessage = onMessage;
    this.onState = onState;
    this.boot = null;
    this.last = 0;
    this.credit = 1;
    this.known = false;
    this.holds = false;
    this.sends = false;
    this.held = false;
    this.online = false;
    this.refused = false;
    this.closed = false; // the card is good for nothing, or only for what waits here
    this.over = false; // its event is over
    this.phones = 1;
    this.round = 0;
    this.planVersion = 0;
    this.from = null;
    this.takeOver = false;
    this.extra = {};
    this.carried = {};
    this.running = null;
    this.again = false;
    this.stream = null;
    setInterval(() => this.pump(), BEAT_MS);
    addEventListener("online", () => this.pump());
    document.addEventListener("visibilitychange", () => document.hidden || this.pump());
  }

  // Post what there is; one exchange at a time, and another one if something came up meanwhile.
  pump(extra = {}) {
    Object.assign(this.extra, extra);
    if (this.running) {
      this.again = true;
      return this.running;
    }
    this.running = this.#cycle().finally(() => {
      this.running = null;
      if (this.again) {
        this.again = false;
        this.pump();
      }
    });
    return this.running;
  }

  async #cycle() {
    if (this.refused) return;
    try {
      if (this.closed) {
        await this.#deliver();
        return;
      }
      for (let turn = 0; turn < 20; turn++) {
        const more = await this.#once();
        if (!more) return;
      }
    } catch (error) {
      if (error instanceof ApiError && [401, 403].includes(error.status)) this.#close(error);
      // What the service can't read it will not read the next time either; records are never among it.
      if (!(error instanceof ApiError && error.status < 500) || [408, 429].includes(error.status)) this.#sayAgain();
      this.carried = {};
      this.#online(false);
      clearTimeout(this.retry);
      if (!this.refused && !this.again) this.retry = setTimeout(() => this.pump(), 2500);
    }
  }

  // The card opens the table no longer. Perhaps its event is over, and what waits here is still taken.
  #close(error) {
    if (!this.closed) {
      this.closed = this.again = true;
      this.over = error.code === "event-over";
    } else {
      if (error.code === "not-allowed") this.closed = false; // its event is played again
      else this.refused = true;
      this.again = this.over = false;
    }
    this.known = false;
    this.stream?.stop();
    this.stream = null;
  }

  // What was keyed in while the event of this card ran goes to it still; nothing else is asked, and nothing comes.
  async #deliver() {
    for (let turn = 0, told = false; turn < 20; turn++) {
      const { records: all, journal } = await this.journal.load(["journal"]);
      const own = all.filter((r) => r.journal === journal), owed = own.filter((r) => !r.acked).map((r) => r.seq);
      if (told && !owed.length) return;
      const asked = this.from?.journal === journal ? this.from.seq : Infinity, first = Math.min(...owed, asked);
      const due = own.filter((r) => r.seq >= first).slice(0, 16);
      this.from = null;
      const body = { device: this.journal.device, oldest_unacked: owed.length ? Math.min(...owed) : 0, records: due.map((r) => r.bytes) };
      const answer = await api("/table/late", { token: this.token, body, timeout: 8000 });
      this.over = told = true;
      for (const message of answer.messages) await this.#hear(message);
      this.#online(true);
      if (this.from?.seq === asked) return; // it has no such record, or a damaged one: again with the next beat
    }
  }

  // What went with an exchange that failed goes with the next one, unless something newer has been said since.
  #sayAgain() {
    this.extra = { ...this.carried, ...this.extra };
    this.carried = {};
  }

  async #once() {
    const { records: all, journal: current } = await this.journal.load(["journal"]);
    let due = all.filter((r) => !r.acked);
    if (this.from) due = all.filter((r) => r.journal === this.from.journal && r.seq >= this.from.seq);
    due = due.filter((r) => r.journal === current || this.from).slice(0, Math.max(0, Math.min(this.credit, 16)));
    const send = this.known && this.sends ? due : [];
    // Taken out before it is sent: what is said meanwhile is newer, and goes with the next exchange.
    this.carried = this.extra;
    this.extra = {};
    const body = {
      device: this.journal.device, after: this.last, boot: this.boot || "", version: "1",
      status: { round: this.round, waiting: all.filter((r) => !r.acked).length, clock: clockNow(), plan_version: this.planVersion, battery: this.battery ?? 255 },
      ...this.carried,
    };
    if (!this.known) body.hello = await this.journal.hello();
    if (send.length) body.records = send.map((r) => r.bytes);
    if (this.takeOver) body.take_over = true;
    const answer = await api("/table/exchange", { token: this.token, body, timeout: 8000 });
    if (answer.boot !== this.boot) {
      this.boot = answer.boot;
      this.last = 0;
      this.known = false;
      this.stream?.stop();
      this.stream = null;
    }
    if (answer.need === "hello") {
      this.known = false;
      this.#sayAgain();
      return true;
    }
    this.carried = {};
    const fresh = !this.known;
    this.known = true;
    this.holds = answer.holds;
    this.sends = answer.sends;
    this.held = answer.held;
    this.phones = answer.phones;
    if (answer.last >= this.last) this.pending = answer.pending; // else the stream has brought something newer
    if (answer.answered !== null && answer.answered !== undefined) this.answered = answer.answered;
    this.#online(true);
    this.from = send.length ? null : this.from;
    const acked = await this.take(answer.messages);
    if (!this.stream) this.#listen();
    const left = (await this.journal.all()).some((r) => !r.acked);
    return (fresh && left && this.sends) || (acked && left) || (this.from !== null && this.sends && this.credit > 0);
  }

  // Messages have numbers; those seen before are left out. True when a record was acknowledged.
  async take(messages) {
    let acked = false;
    for (const message of messages) {
      if (message.n <= this.last) continue;
      this.last = message.n;
      acked = message.kind === "RECORD_ACK" || acked;
      await this.#hear(message);
      await this.onMessage(message);
    }
    return acked;
  }

  async #hear(message) {
    if (message.kind === "RECORD_ACK") {
      this.credit = message.credit;
      // A cloned phone may have used the same numbers for other results: what is stored must be what is here.
      // If it is not, ours is sent all the same: the host keeps both, tells the director, and refuses the number.
      if (await this.journal.differs(message.journal_id, message.upto, message.crc)) this.again = true;
      else await this.journal.acknowledge(message.journal_id, message.upto);
    } else if (message.kind === "CREDIT") this.credit = message.credit;
    else if (message.kind === "RESEND") this.from = { journal: message.journal_id, seq: message.from_seq };
    else if (message.kind === "RECORD_NAK") await this.#refused(message);
    else if (message.kind === "AGAIN") {
      this.known = false;
      this.again = true;
    }
  }

  async #refused(message) {
    const reason = ["", "conflict", "gap", "not-admitted", "crc", "auth"][message.reason];
    if (reason === "conflict") {
      await this.journal.renew(message.journal_id);
      this.known = false;
      this.again = true;
    } else if (reason === "gap" || reason === "crc") this.from = { journal: message.journal_id, seq: message.seq };
  }

  #listen() {
    const path = `/table/stream?device=${this.journal.device}`;
    this.stream = listen(path, this.token, {
      lastId: `${this.boot}-${this.last}`,
      onEvent: async (kind, data) => {
        if (kind !== "message") return;
        const acked = await this.take([data]);
        if (acked || data.kind === "CREDIT" || data.kind === "RESEND" || this.from || this.again) this.pump();
        this.onState();
      },
      onState: (up) => {
        if (!up) {
          // The service may have restarted: introduce ourselves anew, then listen again.
          this.stream?.stop();
          this.stream = null;
          this.known = false;
          setTimeout(() => this.pump(), 300);
        }
      },
    });
  }

  #online(up) {
    this.online = up;
    this.onState();
  }
}
