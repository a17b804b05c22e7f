import { setFlagsFromString } from 'node:v8';

/**
 * From now on WebAssembly runs as it was compiled at first. To be called before there is any.
 *
 * V8 compiles what is used much a second time, to run faster. At the start of PGlite it does so to two hundred functions,
 * which takes 100 MB that stay, and on Node 24 one of them, of 105 kB, takes 600 MB for some seconds. What that costs, by
 * measure: statements by key take as long as before, a scan of a table up to twice as long (4 in place of 2 ms for 1,500
 * rows).
 */
export function compileOnce() {
  // A V8 that does not know a flag says so on standard error, no more.
  for (const flag of ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag);
}
