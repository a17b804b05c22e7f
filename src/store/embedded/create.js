// Makes a new database, in a process that ends when it is made: node create.js DIRECTORY
// What PGlite needs for that is kept by the process that ran it, and is many times what the database needs later.
// Plain JavaScript: the same file is run from src/ by the tests and from dist/ by the gateway.

import { MemoryFS, PGlite } from '@electric-sql/pglite';
import { compileOnce } from './baseline-wasm.js';
import { keepEmptyPages } from './empty-pages.js';

const [directory = ''] = process.argv.slice(2);
const DATA = '/pglite/data';
/** Of the making alone: more would only be memory that is filled once. */
const BUFFERS = ['-c', 'shared_buffers=16MB'];

compileOnce();
keepEmptyPages();

/**
 * The database's files where they shall be, from the first byte. PGlite makes databases on other file systems in memory
 * and copies them; only of a MemoryFS it takes what it is given.
 */
class DirectFiles extends MemoryFS {
  /** @override @type {MemoryFS['init']} */
  async init(pg, options) {
    const { emscriptenOpts } = await super.init(pg, options);
    /** @param {any} module */
    const mount = (module) => {
      module.FS.mkdirTree(DATA);
      module.FS.mount(module.NODEFS, { root: directory }, DATA);
    };
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), mount] } };
  }
}

const database = await PGlite.create({
  fs: new DirectFiles(directory),
  initDbStartParams: BUFFERS,
  startParams: [...PGlite.defaultStartParams, ...BUFFERS],
});
await database.close();
