// How much memory this process takes, and gives back.

import { setFlagsFromString } from 'node:v8';

/**
 * V8 compiles a function of WebAssembly anew, to run faster, when it has executed so many bytes of it, which takes some
 * 50 ms. By itself it does so after 1.8 million (Node 20) or 13 million: at the start of PGlite and Prisma that is 200
 * functions, and 100 MB that stay.
 */
const WASM_TIERING_BUDGET = 50_000_000;

/** To be called before there is any WebAssembly. */
export function limitCompiling(): void {
  setFlagsFromString(`--wasm-tiering-budget=${WASM_TIERING_BUDGET}`);
}
