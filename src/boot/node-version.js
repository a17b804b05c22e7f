// `npm run test:node -- VERSION` runs the tests with another version of Node than the machine's, such as `24` or
// `latest`. Further arguments go to vitest. The binary comes from the npm registry, from the package that the package
// `node` installs by a script.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { environment, root, run } from './command.js';

const UNAVAILABLE = 69; // EX_UNAVAILABLE in sysexits.h

const [version = '', ...args] = process.argv.slice(2);
if (/^(latest|\d+(\.\d+){0,2})$/.test(version)) process.exitCode = await testWith(version);
else {
  process.stderr.write('Which version of Node? As: npm run test:node -- 24, or latest\n');
  process.exitCode = 1;
}

/**
 * @param {string} version
 * @returns {Promise<number>} the exit code of `npm test`; 69 when this version is not available.
 */
async function testWith(version) {
  const directory = join(root, 'dist/.node', version);
  const program = `node-${process.platform}-${process.arch}`;
  const bin = join(directory, 'node_modules', program, 'bin');
  mkdirSync(directory, { recursive: true });
  // Without its own package.json, npm would find ours in a parent directory.
  writeFileSync(join(directory, 'package.json'), '{"private":true}\n');
  const install = [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    `${program}@${version}`,
  ];
  const code = await run('npm', install, { output: 'held', cwd: directory });
  if (code !== 0 || !existsSync(join(bin, 'node'))) {
    process.stdout.write(`Node ${version} cannot be had for ${process.platform} on ${process.arch}\n`);
    return UNAVAILABLE;
  }
  const PATH = [bin, environment().PATH].join(delimiter);
  await run('node', ['--version'], { env: { PATH } });
  return run('node', ['src/boot/test.js', ...args], { env: { PATH } });
}
