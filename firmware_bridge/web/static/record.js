// The bytes of a record (docs/protocol.md, RECORD and section 5), CRC-32, and the score of a contract. Pure.

const CRC = new Uint32Array(256).map((_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n >>> 0;
});

export function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

export const KIND = { played: 1, passed: 2, notPlayed: 3, erased: 4 };
export const STRAINS = "CDHSN";
export const SEATS = "NESW";

export function packBody(f) {
  const bytes = new Uint8Array(14), view = new DataView(bytes.buffer);
  const played = f.kind === KIND.played;
  view.setUint8(0, f.kind | (f.confirmed << 4));
  view.setUint8(1, f.section);
  view.setUint8(2, f.table);
  view.setUint8(3, f.round);
  view.setUint16(4, f.board | ((played ? f.declarer : 0) << 10) | ((played ? f.tricks : 0) << 12), true);
  const pairs = f.ns + f.ew * 4096;
  view.setUint16(6, pairs & 0xffff, true);
  view.setUint8(8, Math.floor(pairs / 65536));
  view.setUint8(9, played ? f.level | (f.strain << 3) | (f.doubling << 6) : 0);
  view.setUint8(10, played && f.lead !== null && f.lead !== undefined ? f.lead : 255);
  view.setUint8(11, f.replaces || 0);
  view.setUint16(12, f.stamp & 0xffff, true);
  return bytes;
}

export function packRecord(deviceHex, journal, seq, body) {
  const covered = new Uint8Array(16 + 14), head = new DataView(covered.buffer);
  head.setUint32(0, parseInt(deviceHex.slice(8), 16), true);
  head.setUint32(4, parseInt(deviceHex.slice(0, 8), 16), true);
  head.setUint32(8, journal, true);
  head.setUint32(12, seq, true);
  covered.set(body, 16);
  const bytes = new Uint8Array(32), view = new DataView(bytes.buffer);
  view.setUint32(0, journal, true);
  view.setUint32(4, seq, true);
  bytes.set(body, 8);
  view.setUint32(22, crc32(covered), true);
  return btoa(String.fromCharCode(...bytes));
}

export const TABLE = { auction: 1, play: 2, hands: 3, positions: 4, accepted: 5 };

// What a table records beside its results (0x77 TABLE_RECORD). data: its bytes, section 8.
export function packTable(deviceHex, journal, seq, f, data) {
  const body = new Uint8Array(13 + data.length), view = new DataView(body.buffer);
  view.setUint8(0, f.section);
  view.setUint8(1, f.table);
  view.setUint8(2, f.round);
  view.setUint16(3, f.board, true);
  view.setUint16(5, f.ns, true);
  view.setUint16(7, f.ew, true);
  view.setUint8(9, f.what);
  view.setUint8(10, f.by || 0);
  view.setUint16(11, data.length, true);
  body.set(data, 13);
  const covered = new Uint8Array(16 + body.length), head = new DataView(covered.buffer);
  head.setUint32(0, parseInt(deviceHex.slice(8), 16), true);
  head.setUint32(4, parseInt(deviceHex.slice(0, 8), 16), true);
  head.setUint32(8, journal, true);
  head.setUint32(12, seq, true);
  covered.set(body, 16);
  const bytes = new Uint8Array(18 + body.length), out = new DataView(bytes.buffer);
  out.setUint32(0, journal, true);
  out.setUint32(4, seq, true);
  out.setUint32(8, crc32(covered), true);
  bytes.set(body, 18);
  return `77.${btoa(String.fromCharCode(...bytes))}`;
}

// calls: {call, alerted} from the dealer on; call 0 pass, 1-35 the bids 1C to 7NT, 36 double, 37 redouble.
export function packAuction(dealer, calls) {
  const bytes = new Uint8Array(1 + 2 * calls.length), view = new DataView(bytes.buffer);
  view.setUint8(0, dealer);
  calls.forEach((one, at) => view.setUint16(1 + 2 * at, one.call | (((dealer + at) % 4) << 6) | (one.alerted ? 1 << 10 : 0), true));
  return bytes;
}

// pair: who has accepted; proof: base64 from the service, which alone knows the pair's code.
export function packAccepted(pair, stamp, proof) {
  const bytes = new Uint8Array(13), view = new DataView(bytes.buffer);
  view.setUint16(0, pair, true);
  view.setUint16(3, stamp & 0xffff, true);
  bytes.set(Uint8Array.from(atob(proof), (one) => one.charCodeAt(0)), 5);
  return bytes;
}

export const bodyText = (fields) => btoa(String.fromCharCode(...packBody({ ...fields, replaces: 0 })));

// cards: {seat, card} in the order of play; agreed: tricks of declarer's side.
export const packPlay = (agreed, cards) => Uint8Array.from([agreed, ...cards.map((one) => one.card | (one.seat << 6))]);

// owners: the seat 0-3 of each card 0-51, two bits each, the first card lowest.
export function packHands(owners) {
  const bytes = new Uint8Array(13);
  owners.forEach((seat, card) => { bytes[card >> 2] |= seat << (2 * (card & 3)); });
  return bytes;
}

// The CRC that a packed record carries.
export function crcOf(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new DataView(bytes.buffer).getUint32(22, true);
}

export function clockNow() {
  return Math.floor(Date.now() / 4000) & 0xffff;
}

export function vulnerable(board) {
  const code = "0NEBNEB0EB0NB0NE"[(board - 1) % 16];
  return { ns: code === "N" || code === "B", ew: code === "E" || code === "B" };
}

export function score(f) {
  if (f.kind === KIND.passed) return 0;
  const nsSide = f.declarer % 2 === 0, over = f.tricks - 6 - f.level;
  const vul = nsSide ? vulnerable(f.board).ns : vulnerable(f.board).ew;
  const factor = 1 << f.doubling;
  let points;
  if (over < 0) {
    const down = -over;
    if (!f.doubling) points = -down * (vul ? 100 : 50);
    else {
      let sum = 0;
      for (let n = 1; n <= down; n++) sum += vul ? (n === 1 ? 200 : 300) : n === 1 ? 100 : n <= 3 ? 200 : 300;
      points = -sum * (f.doubling === 2 ? 2 : 1);
    }
  } else {
    const minor = f.strain <= 2, each = minor ? 20 : 30;
    const trick = (f.level * each + (f.strain === 5 ? 10 : 0)) * factor;
    points = trick + (trick >= 100 ? (vul ? 500 : 300) : 50);
    if (f.level === 6) points += vul ? 750 : 500;
    if (f.level === 7) points += vul ? 1500 : 1000;
    if (f.doubling) points += 50 * f.doubling + over * (vul ? 200 : 100) * f.doubling;
    else points += over * each;
  }
  return nsSide ? points : -points;
}

export function relative(f) {
  const over = f.tricks - 6 - f.level;
  return over === 0 ? "=" : over > 0 ? `+${over}` : `−${-over}`;
}
