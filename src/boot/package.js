// `npm run package [-- DIRECTORY]`: the gateway as an archive that runs with Node alone, and as a package that npx runs from its
// tarball, in DIRECTORY, or dist/package without one. Both have native code for the platform that they are made on.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { root } from './command.js';
import { UNBUNDLED } from './packages.js';
import { prepare } from './prepare.js';

/** Of packages: what only people, compilers and other platforms read. */
const NOT_SHIPPED =
  /\.(map|md|d\.[cm]?ts|tar\.gz|cjs|c|h|txt)$|\/(contrib|src|include|prebuilds)\/|\/(live|worker|vector)\//;
/** Prebuilt native code is at `prebuilds/PLATFORM-ARCH/`. */
const OWN_PREBUILDS = `/prebuilds/${process.platform}-${process.arch}/`;

await prepare();
const { name, version, license, engines, description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const directory = resolve(process.argv[2] ?? join(root, 'dist/package'));
const staged = join(directory, `${name}-${version}`);
const archive = `${staged}.tar.gz`;
const tarball = `${staged}.tgz`;
// Nothing else of the directory: it may be any.
for (const made of [staged, archive, tarball]) rmSync(made, { recursive: true, force: true });
mkdirSync(join(staged, 'bin'), { recursive: true });

copyFileSync(join(root, 'src/boot/tunnel-gateway'), join(staged, 'bin/tunnel-gateway'));
chmodSync(join(staged, 'bin/tunnel-gateway'), 0o755);
copyFileSync(join(root, 'LICENSE'), join(staged, 'LICENSE'));
copyTree('src/manual', 'manual');
copyTree('src/deploy', 'deploy');
copyTree('prisma/migrations');
copyTree('dist/dashboard');
copyTree('agent/dist');
for (const file of ['package.json', 'install.sh', 'README.md', 'default-policy.json'])
  copyFileSync(join(root, 'agent', file), join(staged, 'agent', file));
// Without what earlier builds left for gateways that still run.
const { files } = JSON.parse(readFileSync(join(root, 'dist/bundle/inputs.json'), 'utf8'));
mkdirSync(join(staged, 'dist/bundle'));
for (const file of [...Object.keys(files), 'rapidoc.js'])
  copyFileSync(join(root, 'dist/bundle', file), join(staged, 'dist/bundle', file));

/** @type {Record<string, string>} */
const shipped = {};
for (const dependency of UNBUNDLED) ship(dependency);
const manifest = {
  name,
  version,
  description,
  license,
  type: 'module',
  engines,
  os: [process.platform],
  cpu: [process.arch],
  bin: { [name]: `bin/${name}` },
  dependencies: shipped,
  bundleDependencies: Object.keys(shipped),
};
writeFileSync(join(staged, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);

execFileSync('tar', ['--create', '--gzip', `--file=${archive}`, `--directory=${directory}`, basename(staged)]);
execFileSync('npm', ['pack', '--ignore-scripts', '--loglevel=error', `--pack-destination=${directory}`], {
  cwd: staged,
});
for (const file of [archive, tarball])
  process.stdout.write(`${file} (${(statSync(file).size / 2 ** 20).toFixed(1)} MB)\n`);

/** @param {string} from @param {string} [to] */
function copyTree(from, to = from) {
  const isHidden = (/** @type {string} */ path) => basename(path).startsWith('.');
  cpSync(join(root, from), join(staged, to), { recursive: true, filter: (path) => !isHidden(path) });
}

/** Copies a package, and what it needs; of its optional packages, those that this platform has. @param {string} dependency */
function ship(dependency) {
  if (shipped[dependency]) return;
  const from = join(root, 'node_modules', dependency);
  const {
    version,
    dependencies = {},
    optionalDependencies = {},
  } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'));
  shipped[dependency] = version;
  for (const entry of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
    const path = `/${entry}`;
    if (statSync(join(from, entry)).isDirectory()) continue;
    if (NOT_SHIPPED.test(path) && !path.startsWith(OWN_PREBUILDS) && !/^\/licen[cs]e/i.test(path)) continue;
    const to = join(staged, 'node_modules', dependency, entry);
    mkdirSync(dirname(to), { recursive: true });
    copyFileSync(join(from, entry), to);
  }
  for (const needed of Object.keys(dependencies)) ship(needed);
  for (const needed of Object.keys(optionalDependencies))
    if (existsSync(join(root, 'node_modules', needed))) ship(needed);
}
