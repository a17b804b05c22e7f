// What labels of agents may be, as the gateway checks them.

const KEY_MAX_BYTES = 64;
const VALUE_MAX_BYTES = 128;

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

/** @returns what is wrong with a key; null when nothing is. */
export function validateLabelKey(text: string): string | null {
  if (text.includes('=')) return 'a key has no “=”.';
  return bytesOf(text) > KEY_MAX_BYTES ? `at most ${KEY_MAX_BYTES} bytes.` : null;
}

/** @returns likewise of a value. */
export function validateLabelValue(text: string): string | null {
  if (text === '') return 'a value is needed.';
  return bytesOf(text) > VALUE_MAX_BYTES ? `at most ${VALUE_MAX_BYTES} bytes.` : null;
}
