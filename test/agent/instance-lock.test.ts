// The lock of the state file: only one agent uses it.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LockError, lockInstance } from '../../agent/src/tunnels/instance-lock.ts';
import { hasProc, newZombie } from '../support/agents/zombie.ts';

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'agent-state-'));
  file = join(directory, 'tunnels.json');
});
afterEach(() => rmSync(directory, { recursive: true }));

describe('the lock of the state file', () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });
  /** Another process that holds the lock, or has died with it. */
  async function holder() {
    const script = `
      const { mkdirSync, writeFileSync, readFileSync } = require('node:fs');
      const stat = readFileSync('/proc/self/stat', 'latin1');
      mkdirSync(process.argv[1]);
      writeFileSync(process.argv[1] + '/' + process.pid + '.' + stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19], '');
      console.log('held');
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['-e', script, `${file}.lock`], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    await once(child.stdout, 'data');
    return child;
  }

  test('is refused while another process has it, which is named', async () => {
    const child = await holder();
    expect(() => lockInstance(file)).toThrow(LockError);
    expect(() => lockInstance(file)).toThrow(`Process ${child.pid} is an agent`);
    expect(readdirSync(directory)).toEqual(['tunnels.json.lock']);
  });

  test('of a process that was killed counts for nothing', async () => {
    const child = await holder();
    child.kill('SIGKILL');
    await once(child, 'exit');
    const unlock = lockInstance(file);
    unlock();
    expect(readdirSync(directory)).toEqual([]);
  });

  test('of a process whose number another one has now counts for nothing', async () => {
    const child = await holder();
    const [name = ''] = readdirSync(`${file}.lock`);
    rmSync(join(`${file}.lock`, name));
    writeFileSync(join(`${file}.lock`, `${child.pid}.1`), '');
    lockInstance(file)();
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  test.runIf(hasProc)(
    'of a process that has ended, and is not asked for its exit code, counts for nothing',
    async () => {
      const { pid, start } = await newZombie();
      mkdirSync(`${file}.lock`);
      writeFileSync(join(`${file}.lock`, `${pid}.${start}`), '');
      lockInstance(file)();
      expect(existsSync(`${file}.lock`)).toBe(false);
    },
  );

  test('of our own number, as every start of a container has the same one, counts for nothing', () => {
    mkdirSync(`${file}.lock`);
    writeFileSync(join(`${file}.lock`, `${process.pid}.1`), '');
    lockInstance(file)();
    expect(existsSync(`${file}.lock`)).toBe(false);
  });
});
