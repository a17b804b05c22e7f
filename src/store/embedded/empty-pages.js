// Cheap copies of a large, mostly empty memory.

/** PGlite's WebAssembly memory has at least 128 MB, of which 3 are in use when it makes a copy. No other array is as large. */
const LARGE = 64 * 1024 * 1024;
const PAGE = 64 * 1024;

/**
 * Makes `slice()` and `set()` of very large arrays copy only pages that are not empty, for the whole process. Only the process that
 * creates a database may call it. To run initdb, PGlite copies all of its memory and restores it five times, which took 256 MB
 * instead of 20.
 */
export function keepEmptyPages() {
  const { slice, set } = Uint8Array.prototype;
  const empty = Buffer.alloc(PAGE);
  /** @type {WeakMap<object, Map<number, Uint8Array>>} */
  const copies = new WeakMap();

  /** @param {Uint8Array} array @param {number} at */
  const pageOf = (array, at) => Buffer.from(array.buffer, array.byteOffset + at, Math.min(PAGE, array.length - at));
  /** @param {Buffer} page */
  const isEmpty = (page) => page.equals(empty.subarray(0, page.length));

  /** @this {Uint8Array<any>} @param {number} [from] @param {number} [to] */
  Uint8Array.prototype.slice = function (from, to) {
    if (this.length < LARGE || from !== undefined) return slice.call(this, from, to);
    const pages = new Map();
    for (let at = 0; at < this.length; at += PAGE) {
      const page = pageOf(this, at);
      if (!isEmpty(page)) pages.set(at, Uint8Array.from(page));
    }
    const copy = new Uint8Array(0);
    Object.defineProperty(copy, 'length', { value: this.length });
    copies.set(copy, pages);
    return copy;
  };

  /** @this {Uint8Array<any>} @param {ArrayLike<number>} source @param {number} [offset] */
  Uint8Array.prototype.set = function (source, offset) {
    const pages = copies.get(source);
    if (!pages) return set.call(this, source, offset);
    for (let at = 0; at < source.length; at += PAGE) {
      const kept = pages.get(at);
      const page = pageOf(this, at);
      if (kept) page.set(kept);
      else if (!isEmpty(page)) page.fill(0); // Empty pages are not written, because a written page takes up memory.
    }
  };
}
