// Texts in PEM (RFC 7468), cut into their blocks.

const BLOCK = /-----BEGIN ([A-Z0-9 ]{1,64})-----(.*?)-----END \1-----/gs;

export interface PemBlock {
  /** As `CERTIFICATE`. */
  type: string;
  /** What stands between its first line and its last. */
  content: string;
  /** All of it. */
  text: string;
}

/** @returns the blocks of a text, without what stands around them; undefined when one of them is not well formed. */
export function pemBlocks(pem: string): PemBlock[] | undefined {
  const blocks = [...pem.matchAll(BLOCK)].map(([text, type = '', content = '']) => ({ type, content, text }));
  // What has an end alone is maimed, too: it may be a key, which nobody is to be shown among the words around a certificate.
  const isWhole = ['-----BEGIN', '-----END'].every((line) => pem.split(line).length - 1 === blocks.length);
  return isWhole ? blocks : undefined;
}

/** Whether a block has headers (RFC 1421), as keys that are encrypted in the old way do. */
export function hasHeaders({ content }: PemBlock): boolean {
  return content.includes(':');
}

/** @returns the bytes of a block; undefined when it is not in base64. */
export function bytesOf({ content }: PemBlock): Buffer | undefined {
  const base64 = content.replace(/\s/g, '');
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('base64') === base64 ? bytes : undefined;
}
