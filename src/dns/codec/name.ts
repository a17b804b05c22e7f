// Domain names. Within the gateway they are texts: lower case, labels joined by dots, no dot at the end. A byte that could be
// mistaken is written as a backslash and its three decimal digits, so that every name has exactly one text and a dot is always the
// border of two labels.

const LABEL_BYTES_MAX = 63;
/** With the length before each label and the root behind the last one (RFC 1035 section 2.3.4). */
export const NAME_BYTES_MAX = 255;

/** What a label shows of itself: printable ASCII other than the dot and the backslash. */
const isPlain = (byte: number) => byte > 0x20 && byte < 0x7f && byte !== 0x2e && byte !== 0x5c;

/** Whether a name has labels that no host, service or challenge is named by. */
export const isUnusual = (name: string) => name.includes('\\');

/** A name in a message, and where what follows it begins. */
export interface ReadName {
  text: string;
  end: number;
}

/**
 * Reads the name of a question. There is nothing before it that it could point to, so that compression is a defect.
 * @returns undefined when it is no name.
 */
export function readName(packet: Buffer, start: number): ReadName | undefined {
  const labels: string[] = [];
  let at = start;
  for (;;) {
    const length = packet[at];
    // Longer ones are pointers (RFC 1035 section 4.1.4) or reserved.
    if (length === undefined || length > LABEL_BYTES_MAX) return undefined;
    at++;
    if (length === 0) return { text: labels.join('.'), end: at };
    // The root has to fit behind it.
    if (at + length - start >= NAME_BYTES_MAX || at + length > packet.length) return undefined;
    labels.push(readLabel(packet.subarray(at, at + length)));
    at += length;
  }
}

/** Skips the name of a record, which may end with a pointer. @returns where what follows begins; undefined when it is no name. */
export function skipName(packet: Buffer, start: number): number | undefined {
  for (let at = start; at - start < NAME_BYTES_MAX; ) {
    const length = packet[at];
    if (length === undefined) return undefined;
    if (length === 0) return at + 1;
    if (length >= 0xc0) return at + 2; // Where it points to does not matter to whoever skips it.
    if (length > LABEL_BYTES_MAX) return undefined;
    at += 1 + length;
  }
  return undefined;
}

function readLabel(bytes: Buffer): string {
  if (bytes.every(isPlain)) return bytes.toString('latin1').toLowerCase();
  return Array.from(bytes, (byte) =>
    isPlain(byte) ? String.fromCharCode(byte).toLowerCase() : `\\${String(byte).padStart(3, '0')}`,
  ).join('');
}

/** A label as one writes it in a name. @param text of which each character is a byte. */
export const labelOf = (text: string): string => readLabel(Buffer.from(text, 'latin1'));

/** The bytes of a label of a name, with their number before them. */
export function encodeLabel(label: string): Buffer {
  const text = label.replace(/\\(\d{3})/g, (_, digits) => String.fromCharCode(Number(digits)));
  return Buffer.from(`${String.fromCharCode(text.length)}${text}`, 'latin1');
}

/** The name and all that it is below, the longest first, without the root. */
export function* suffixesOf(name: string): Generator<string> {
  for (let rest = name; rest !== ''; rest = parentOf(rest)) yield rest;
}

/** The name without its first label; '' is the root. */
export function parentOf(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? '' : name.slice(dot + 1);
}
