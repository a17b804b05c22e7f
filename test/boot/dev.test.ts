// `npm run dev`: what is changed is compiled, and the gateway starts again with it; a signal ends all that it has started.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { smallRepository } from './small-repository.ts';

const repository = smallRepository();
const { write, environment } = repository;

test('a changed source starts the gateway again, and SIGTERM ends all', async () => {
  write(
    'src/main.ts',
    `import { greeting } from './greeting.js';\nconsole.log(greeting);\nsetInterval(() => {}, 1000);`,
  );
  write('src/dashboard/watch.js', `console.log('the dashboard is watched');\nsetInterval(() => {}, 1000);`);
  const dev = spawn(process.execPath, [join(repository.root, 'src/boot/dev.js')], {
    env: environment(),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void dev.kill('SIGTERM'));
  let output = '';
  dev.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  // It may end only when each of its programs has let go of its output.
  const closed = once(dev, 'close');
  await expect.poll(() => output).toContain('the dashboard is watched\n');
  await expect.poll(() => output).toContain('first\n');
  // tsc may miss what changes just before it watches, and nothing says when it does.
  const changed = () => {
    write('src/greeting.ts', `export const greeting: string = 'second';`);
    return output;
  };
  await expect.poll(changed, { interval: 4000, timeout: 50_000 }).toContain('second\n');
  dev.kill('SIGTERM');
  expect(await closed).toEqual([0, null]);
});
