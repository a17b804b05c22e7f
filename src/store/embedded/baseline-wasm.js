import { setFlagsFromString } from 'node:v8';

/**
 * Turns off the optimizing compiler for WebAssembly. It must be called before the first module is compiled.
 *
 * V8 compiles hot functions a second time. At the start of PGlite these are two hundred functions, which takes 100 MB for good; on
 * Node 24 one of them, of 105 kB, takes 600 MB for some seconds. The measured cost of turning it off: statements by key take as
 * long as before, and a table scan up to twice as long (4 instead of 2 ms for 1,500 rows).
 */
export function compileOnce() {
  // V8 only prints a warning for an unknown flag.
  for (const flag of ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag);
}
