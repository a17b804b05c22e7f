// What of a piece of a body goes on otherwise than it came: ranges that are left out, and text in their place.

import { pieceOf } from './bytes.ts';

interface Edit {
  from: number;
  until: number;
  text: string;
}

/** The edits of one piece after the other; a range that is left out may go on in the next piece. */
export class PieceEdits {
  readonly #edits: Edit[] = [];
  #isCutting = false;
  #cutFrom = 0;

  get isEmpty(): boolean {
    return this.#edits.length === 0;
  }

  /** A piece begins, at the index. */
  begin(from: number): void {
    this.#edits.length = 0;
    this.#cutFrom = from;
  }

  /** From here on nothing goes on, unless that is so already. */
  cut(from: number): void {
    if (this.#isCutting) return;
    this.#isCutting = true;
    this.#cutFrom = from;
  }

  /** From here on all goes on again. @param text in place of what did not. @returns false when all did. */
  mend(until: number, text: string): boolean {
    if (!this.#isCutting) return false;
    this.#isCutting = false;
    this.#edits.push({ from: this.#cutFrom, until, text });
    return true;
  }

  /** Adds something before the byte at the index. */
  insert(at: number, text: string): void {
    this.#edits.push({ from: at, until: at, text });
  }

  /** The piece ends before the index. */
  end(until: number): void {
    if (this.#isCutting) this.#edits.push({ from: this.#cutFrom, until, text: '' });
  }

  /** The piece with its edits, from where it began to where it ended. */
  apply(bytes: Buffer, from: number, end: number): Buffer {
    if (this.isEmpty) return pieceOf(bytes, from, end);
    let length = end - from;
    for (const edit of this.#edits) length += edit.text.length + edit.from - edit.until;
    const out = Buffer.allocUnsafe(length);
    let at = 0;
    let next = from;
    for (const edit of this.#edits) {
      at += bytes.copy(out, at, next, edit.from);
      at += out.write(edit.text, at, 'latin1');
      next = edit.until;
    }
    bytes.copy(out, at, next, end);
    return out;
  }
}
