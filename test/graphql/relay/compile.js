// Has Relay's compiler compile the documents of the manual and those of store.ts, and keeps what it makes of them in artifacts.json:
// `node test/graphql/relay/compile.js`, by hand. The compiler itself is a package of 43 MB, too much for each installation.

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const here = import.meta.dirname;
const root = join(here, '../../..');
const require = createRequire(import.meta.url);
const { version } = require('relay-runtime/package.json');

const page = readFileSync(join(root, 'src/manual/own-dashboard.md'), 'utf8');
const section = page.slice(page.indexOf('\n## Relay\n'), page.indexOf('\n## Errors and pages\n'));
const [config = ''] = [...section.matchAll(/```json\n([\s\S]+?)```/g)].map(([, code]) => code);
const code = [...section.matchAll(/```js\n([\s\S]+?)```/g)].map(([, text]) => text);

const place = mkdtempSync(join(tmpdir(), 'gateway-relay-'));
try {
  copyFileSync(join(root, 'schema.graphql'), join(place, 'schema.graphql'));
  /** Compiles them anew, with the names of operations that begin with those of their files, as Relay has it. */
  const compile = (/** @type {'typescript' | 'javascript'} */ language, /** @type {'ts' | 'js'} */ extension) => {
    for (const folder of ['src', 'artifacts']) rmSync(join(place, folder), { recursive: true, force: true });
    for (const folder of ['src', 'artifacts']) mkdirSync(join(place, folder));
    copyFileSync(join(here, 'store.ts'), join(place, `src/store.${extension}`));
    writeFileSync(join(place, `src/dashboard.${extension}`), code.join('\n'));
    const settings = { ...JSON.parse(config), language, eagerEsModules: false, artifactDirectory: 'artifacts' };
    writeFileSync(join(place, 'relay.config.json'), JSON.stringify(settings));
    execFileSync('npx', ['--yes', `relay-compiler@${version}`, 'relay.config.json'], { cwd: place, stdio: 'inherit' });
  };
  compile('typescript', 'ts'); // As the manual has it. What is read below has to be JavaScript.
  compile('javascript', 'js');
  const lines = readdirSync(join(place, 'artifacts'), { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.graphql.js'))
    .sort()
    .map((file) => {
      const name = JSON.stringify(file.slice(file.lastIndexOf('/') + 1, -'.graphql.js'.length));
      return `${name}: ${JSON.stringify(require(join(place, 'artifacts', file)))}`;
    });
  writeFileSync(join(here, 'artifacts.json'), `{\n${lines.join(',\n')}\n}\n`);
} finally {
  rmSync(place, { recursive: true });
}
