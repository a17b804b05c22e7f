// Changing a body on its way, piece by piece: nothing waits for the whole of it.

import { promisify } from 'node:util';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { codingsOf } from './content-decoding.ts';

/** Changes a body as it streams by. Its calls do not overlap. They reject when the body cannot go on. */
export interface BodyTransform {
  /** Takes a piece of the body. @returns what goes on now, of this piece and of what was held back before. */
  take(piece: Buffer): Promise<Buffer>;
  /** The body is complete. @returns what was held back. */
  end(): Promise<Buffer>;
  /** Nothing more is wanted. */
  destroy(): void;
}

/** Changes a body that is there as a whole. Rejects as the transform does. */
export async function transformWhole(body: Buffer, transform: BodyTransform): Promise<Buffer> {
  try {
    return Buffer.concat([await transform.take(body), await transform.end()]);
  } finally {
    transform.destroy();
  }
}

type Decoder = ReturnType<typeof createGunzip>;

const decoders: Readonly<Record<string, () => Decoder>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress() as unknown as Decoder,
};

/**
 * Takes the content codings off a body as it streams by (RFC 9110, section 8.4).
 * @param codings the value of `Content-Encoding`; '' without one.
 * @returns one transform for each coding; or the reason, as a text, why there are none: worded to be read after "the body".
 */
export function decodingTransforms(codings: string): BodyTransform[] | string {
  const applied = codingsOf(codings);
  if (typeof applied === 'string') return applied;
  const unknown = applied.find((name) => !Object.hasOwn(decoders, name));
  if (unknown) return `is encoded as ${unknown.slice(0, 50)}, which is not known`;
  return applied.map((name) => new DecodingTransform(name, (decoders[name] as () => Decoder)()));
}

/** What is decoded at once, and the most that may come of it: no text is that repetitive, and a bomb is. */
const SLICE = 4 * 1024;
const DECODED_MAX = 1024 * 1024;

class DecodingTransform implements BodyTransform {
  readonly #decoder: Decoder;
  readonly #write: (piece: Buffer) => Promise<void>;
  #decoded: Buffer[] = [];
  #length = 0;
  #isEmpty = true;
  readonly #failure: Promise<never>;

  constructor(name: string, decoder: Decoder) {
    this.#decoder = decoder;
    this.#write = promisify((piece: Buffer, done: (error?: Error | null) => void) => void decoder.write(piece, done));
    this.#failure = new Promise((_, reject) => {
      const wrong = () => (this.#length > DECODED_MAX ? 'grows too much when it is decoded' : `is not valid ${name}`);
      decoder.on('error', () => reject(new Error(`the body ${wrong()}`)));
    });
    this.#failure.catch(() => {}); // Whoever writes next hears of it.
    decoder.on('data', (data: Buffer) => {
      this.#decoded.push(data);
      this.#length += data.length;
      if (this.#length > DECODED_MAX) decoder.destroy(new Error('too much'));
    });
  }

  async take(piece: Buffer): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let at = 0; at < piece.length; at += SLICE) {
      this.#isEmpty = false;
      await Promise.race([this.#write(piece.subarray(at, at + SLICE)), this.#failure]).catch(() => this.#failure);
      this.#decoder.read(); // What is decoded and was not told yet.
      parts.push(...this.#taken());
    }
    return Buffer.concat(parts);
  }

  async end(): Promise<Buffer> {
    if (this.#isEmpty) return Buffer.alloc(0);
    const ended = new Promise<void>((resolve) => this.#decoder.once('end', resolve));
    this.#decoder.end();
    await Promise.race([ended, this.#failure]);
    return Buffer.concat(this.#taken());
  }

  destroy(): void {
    this.#decoder.destroy();
  }

  #taken(): Buffer[] {
    const decoded = this.#decoded;
    this.#decoded = [];
    this.#length = 0;
    return decoded;
  }
}
