// What the primary says to a process in the moment of its death.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, inject, test } from 'vitest';
import { openCounts } from '../../src/net/connection-counts.ts';
import { Children } from '../../src/process/children.ts';

// Without /proc nobody can tell when a process has ended that its parent has not heard of.
test.runIf(process.platform === 'linux')(
  'a message to a process that was killed, and is not known to have ended, does no harm',
  async () => {
    const directory = mkdtempSync(join(inject('run'), 'children-'));
    const exec = join(directory, 'child.mjs');
    writeFileSync(exec, "process.send({ type: 'listens' }); setInterval(() => {}, 1000);");
    const log = pino({ level: 'silent' });
    const counts = openCounts(directory);
    const onFailure = () => expect.unreachable('it is not started again');
    const children = new Children({ log, env: {}, directory, counts, watchdogMs: 0, onFailure });
    const slot = children.start({ name: 'child', env: {} }, exec);
    await children.message(slot, 'listens');
    const { pid } = slot.child.process;
    const errors: Error[] = [];
    slot.child.process.on('error', (error) => errors.push(error));
    children.kill(slot);
    // The event loop stands still until then, so that this process has not heard of it.
    while (!/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')));
    expect(slot.child.isConnected()).toBe(true);
    children.tell(slot, { type: 'tellMetrics' });
    await children.ended(slot);
    expect(errors).toEqual([]);
  },
);
