// `tunnel-gateway COMMAND`: what an operator runs of the package that `npm run package` makes. In a clone the same commands are
// `npm start` and `npm run COMMAND`.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../config/package-root.ts';

interface Command {
  arguments: string;
  does: string;
  /** Reads its arguments from `process.argv`, from the third on. */
  run(): unknown;
}

const COMMANDS: Record<string, Command> = {
  start: {
    arguments: '',
    does: 'run the gateway, with the settings of the environment, until SIGTERM or SIGINT',
    run: () => import('../main.ts'),
  },
  check: {
    arguments: '',
    does: 'say what would keep the gateway from starting: settings, files, database, ports',
    run: () => import('./check.ts'),
  },
  upgrade: {
    arguments: '',
    does: 'let the gateway that runs on this DATA_DIR go on with the code of this directory (WORKERS)',
    run: () => import('./upgrade.ts'),
  },
  backup: { arguments: 'FILE', does: 'write the database and the server key', run: () => import('./backup.ts') },
  restore: { arguments: 'FILE', does: 'restore a backup into an empty database', run: () => import('./restore.ts') },
  'api-key': {
    arguments: '[--ip-restriction-off]',
    does: 'make an API key of an admin',
    run: () => import('./api-key.ts'),
  },
  'sign-in-link': {
    arguments: '[EMAIL] [--second-factor-off] [--ip-restriction-off]',
    does: 'print a link that signs an admin, or the user EMAIL, in to the dashboard once',
    run: () => import('./sign-in-link.ts'),
  },
  agent: {
    arguments: 'COMMAND',
    does: 'run the device agent of this version, such as `agent http 3000`',
    run: () => import(pathToFileURL(join(packageRoot(import.meta.dirname), 'agent/dist/agent.js')).href),
  },
  version: { arguments: '', does: 'print the version', run: () => console.log(version()) },
  help: { arguments: '', does: 'print this', run: () => console.log(usage()) },
};

const [, , name = 'help'] = process.argv;
const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
if (command) {
  process.argv.splice(2, 1);
  await command.run();
} else {
  console.error(`There is no command ${name}.\n\n${usage()}`);
  process.exitCode = 2;
}

function usage(): string {
  const lines = Object.entries(COMMANDS).map(([name, { arguments: given, does }]) => [`${name} ${given}`.trim(), does]);
  const listed = lines.map(([usage = '', does = '']) => `  ${usage}\n      ${does}`);
  return ['Usage: tunnel-gateway COMMAND', '', ...listed, '', 'manual/configuration.md has all settings.'].join('\n');
}

/** @returns the name and version of the package, and what it runs on. */
function version(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot(import.meta.dirname), 'package.json'), 'utf8'));
  return `tunnel-gateway ${version} (Node ${process.versions.node}, ${process.platform} ${process.arch})`;
}
