import { setFlagsFromString } from 'node:v8';

/**
 * From now on WebAssembly runs as it was compiled at first. To be called before there is any.
 *
 * V8 compiles what is used much a second time, to run faster. PGlite's queries do not, by measure, as most of their time
 * goes elsewhere; but at the start it does so to two hundred functions, which takes 100 MB that stay, and on Node 24 one
 * of them, of 105 kB, takes 600 MB for some seconds.
 */
export function compileOnce() {
  // A V8 that does not know a flag says so on standard error, no more.
  for (const flag of ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag);
}
