// Creates a new database in a process of its own: node create.js DIRECTORY
// PGlite never frees the memory that this takes, which is many times what the database needs later.
// Plain JavaScript: the same file is run from src/ by the tests and from dist/ by the gateway.

import { MemoryFS, PGlite } from '@electric-sql/pglite';
import { compileOnce } from './baseline-wasm.js';
import { keepEmptyPages } from './empty-pages.js';

const [directory = ''] = process.argv.slice(2);
const DATA = '/pglite/data';
/** A small buffer, because the files are only written once. */
const BUFFERS = ['-c', 'shared_buffers=16MB'];

compileOnce();
keepEmptyPages();

/**
 * Writes the files of the database straight to their directory. On other file systems PGlite creates a database in memory and
 * copies it; only a MemoryFS is used as it is.
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
