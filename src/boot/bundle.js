// Bundles the compiled gateway into a few files: Node takes a third of the CPU time of a start to find and load some two thousand. Code
// that only some processes or some uses need stays in files of its own.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { build } from 'esbuild';
import { root } from './command.js';
import { UNBUNDLED } from './packages.js';

const DIRECTORY = join(root, 'dist/bundle');
/** Which files a bundle is made of: `{ "files": { "main.js": ["dist/main.js", ...] } }`, paths from the root. */
const INPUTS = join(DIRECTORY, 'inputs.json');
/** How many builds leave their files, as gateways may run from them. */
const KEPT_BUILDS = 5;
/** Code of threads and child processes, which stands beside the code that starts it. */
const BESIDE = ['store/embedded/worker.js', 'store/embedded/create.js', 'api/graphql/graphiql-page.js'];

/**
 * The packages that are loaded when they are first used (see lazy-package.ts), and the file that each of them becomes.
 * @type {Map<string, string>}
 */
const lazy = new Map();
const lazyPackages = {
  name: 'lazy-packages',
  /** @param {import('esbuild').PluginBuild} on */
  setup(on) {
    on.onLoad({ filter: /\.js$/ }, async ({ path }) => {
      if (!path.startsWith(join(root, 'dist'))) return undefined;
      const code = await readFile(path, 'utf8');
      const contents = code.replace(/\blazyPackage\('([^']+)'\)/g, (_, name) => {
        const file = `package-${name.replace(/\W+/g, '-')}`;
        lazy.set(name, file);
        return `(() => require('./${file}.cjs'))`;
      });
      return { contents };
    });
  },
};

/**
 * Gives our dynamic imports of packages in CommonJS all of their names, as Node does: esbuild's have the default alone. The package
 * itself, loaded here, says which names there are.
 */
const namesOfCommonJs = {
  name: 'names-of-commonjs',
  /** @param {import('esbuild').PluginBuild} on */
  setup(on) {
    on.onResolve({ filter: /^[@a-z]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      const isOurs = importer.startsWith(join(root, 'dist'));
      if (!isOurs || kind !== 'dynamic-import' || pluginData === SEEN) return undefined;
      const found = await on.resolve(path, { kind, resolveDir, pluginData: SEEN });
      if (found.external || !found.path || !isCommonJs(found.path)) return found;
      return { path: found.path, namespace: 'commonjs-package' };
    });
    on.onLoad({ filter: /.*/, namespace: 'commonjs-package' }, ({ path }) => {
      const names = Object.keys(createRequire(path)(path)).filter((name) => /^[A-Za-z_$][\w$]*$/.test(name));
      const exported = names.filter((name) => name !== 'default');
      const lines = [
        `const all = require(${JSON.stringify(path)});`,
        'export default all;',
        ...exported.map((name, i) => `const name${i} = all.${name};\nexport { name${i} as ${name} };`),
      ];
      return { contents: lines.join('\n'), resolveDir: dirname(path) };
    });
  },
};
const SEEN = Symbol('resolved');

/** @param {string} file of a package. */
function isCommonJs(file) {
  if (/\.[cm]js$/.test(file)) return file.endsWith('.cjs');
  let directory = dirname(file);
  while (!existsSync(join(directory, 'package.json'))) directory = dirname(directory);
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')).type !== 'module';
}

const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** Left out by `npm ci --omit=optional`. */
const missing = Object.keys(optionalDependencies).filter((name) => !existsSync(join(root, 'node_modules', name)));

const options = {
  bundle: true,
  outdir: DIRECTORY,
  platform: /** @type {const} */ ('node'),
  target: 'node20',
  format: /** @type {'esm' | 'cjs'} */ ('esm'),
  legalComments: /** @type {const} */ ('none'),
  logLevel: /** @type {const} */ ('warning'),
  metafile: /** @type {const} */ (true),
  absWorkingDir: root,
};
const [main, beside] = await Promise.all([
  build({
    ...options,
    entryPoints: [join(root, 'dist/main.js'), join(root, 'dist/tools/cli.js')],
    entryNames: '[name]',
    splitting: true,
    // protobufjs is not installed: nothing that needs it is used. pg asks for its native driver only when told to.
    external: [...UNBUNDLED, 'protobufjs/*', 'pg-native', './package-*.cjs', ...missing],
    plugins: [lazyPackages, namesOfCommonJs],
    // Packages in CommonJS call it.
    banner: {
      js: "import { createRequire as createBundleRequire } from 'node:module'; const require = createBundleRequire(import.meta.url);",
    },
  }),
  build({
    ...options,
    entryPoints: Object.fromEntries(BESIDE.map((file) => [basename(file, '.js'), join(root, 'dist', file)])),
    packages: 'external',
  }),
]);
const packages = await build({
  ...options,
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  entryPoints: Object.fromEntries(Array.from(lazy, ([name, file]) => [file, name])),
});

const outputs = Object.entries({
  ...main.metafile.outputs,
  ...beside.metafile.outputs,
  ...packages.metafile.outputs,
});
const made = Object.fromEntries(
  outputs.map(([file, { inputs }]) => [relative(DIRECTORY, join(root, file)), Object.keys(inputs)]),
);
// A gateway that runs may still load what its own bundle had.
/** @type {{ earlier?: string[][], files?: Record<string, string[]> }} */
const before = existsSync(INPUTS) ? JSON.parse(readFileSync(INPUTS, 'utf8')) : {};
const builds = [Object.keys(made), Object.keys(before.files ?? {}), ...(before.earlier ?? [])];
const kept = new Set(builds.slice(0, KEPT_BUILDS).flat());
for (const file of new Set(builds.flat())) if (!kept.has(file)) rmSync(join(DIRECTORY, file), { force: true });
writeFileSync(INPUTS, JSON.stringify({ files: made, earlier: builds.slice(1, KEPT_BUILDS) }));

// What draws the page /docs: a browser's, so it stays as it is, behind its licence.
const rapidoc = join(root, 'node_modules/rapidoc');
const licence = readFileSync(join(rapidoc, 'LICENSE.txt'), 'utf8');
writeFileSync(
  join(DIRECTORY, 'rapidoc.js'),
  `/*!\n${licence}*/\n${readFileSync(join(rapidoc, 'dist/rapidoc-min.js'), 'utf8')}`,
);
