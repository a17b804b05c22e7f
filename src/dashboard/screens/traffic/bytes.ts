// Conversions of bytes: Base64 and hex dumps.

/** Fits on narrow screens. */
const HEX_PER_LINE = 8;

/** @param base64 valid Base64 from the API. */
export function decodeBase64(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

/** Encodes the UTF-8 bytes of a text in Base64. */
export function encodeBase64(text: string): string {
  let letters = '';
  for (const byte of new TextEncoder().encode(text)) letters += String.fromCharCode(byte);
  return btoa(letters);
}

/** A hex dump with the ASCII characters beside it. */
export function hexDump(bytes: Uint8Array, maxBytes: number): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, maxBytes); at += HEX_PER_LINE) {
    const line = [...bytes.subarray(at, Math.min(at + HEX_PER_LINE, maxBytes))];
    const hex = line.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const ascii = line.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(4, '0')}  ${hex.padEnd(HEX_PER_LINE * 3 - 1)}  ${ascii}`);
  }
  return lines.join('\n');
}

/**
 * The text of a header value. The API has a character for each byte; what is valid UTF-8 was meant as UTF-8, and anything
 * else stays as it is.
 */
export function headerText(value: string): string {
  if (!/[\x80-\xff]/.test(value) || /[^\0-\xff]/.test(value)) return value;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Uint8Array.from(value, (character) => character.charCodeAt(0)),
    );
  } catch {
    return value;
  }
}

/** The header value that has this text in UTF-8, with a character for each byte. */
export function headerBytes(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}
