// The bytes of a record (docs/protocol.md, RECORD and section 5), CRC-32, and the score of a contract. Pure.

const TABLE = new Uint32Array(256).map((_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n >>> 0;
});

export function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = TABLE[(crc ^ byte) & 255] ^ (crc >>> 8);
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
