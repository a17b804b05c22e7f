// What a bad day brings. Each fault happens, lasts, and is over; what is left is for the gateway to mend by itself.

import { closeSync, openSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { expect } from 'vitest';
import type { FaultProxy } from '../../support/faults/fault-proxy.ts';
import type { Day } from './day.ts';

const SECOND = 1000;
/** Each request that is logged says its path: so many fill what a pipe takes and what the gateway keeps, several times. */
const LONG_PATH = `/${'x'.repeat(7000)}`;
const LOGGED = 900;

export interface Fault {
  /** The kinds of database that it can happen to. */
  database: 'server' | 'any';
  /** Within which all is well again; milliseconds. */
  recoversMs: number;
  /** Whether the process is meant to end. */
  ends?: true;
  /** Resolves when it is over. */
  happen(day: Day): Promise<void>;
}

const lineOf = ({ proxy }: Day): FaultProxy => {
  if (!proxy) throw new Error('this database is not reached over a network');
  return proxy;
};

async function logMuch({ gateway }: Day): Promise<void> {
  for (let i = 0; i < LOGGED; i++) expect((await gateway().call('GET', LONG_PATH)).status).toBe(404);
}

export const faults: Record<string, Fault> = {
  'failover without RST': {
    database: 'server',
    recoversMs: 5 * SECOND,
    async happen(day) {
      for (const connection of lineOf(day).connections) connection.shape({ outage: 'black hole' });
    },
  },
  'database in a black hole for 10 s': {
    database: 'server',
    recoversMs: 5 * SECOND,
    async happen(day) {
      lineOf(day).shape({ outage: 'black hole' });
      await wait(10 * SECOND);
      await day.heal();
    },
  },
  'database refused for 10 s': {
    database: 'server',
    recoversMs: 5 * SECOND,
    async happen(day) {
      const line = lineOf(day);
      line.refuse();
      await line.cut();
      await wait(10 * SECOND);
      await day.heal();
    },
  },
  'messages that are none': {
    database: 'server',
    recoversMs: SECOND,
    async happen({ place }) {
      const client = new pg.Client({ connectionString: place.env.DATABASE_URL });
      await client.connect();
      for (const payload of ['not json', 'null', '{"changes":[null]}', '[]', '{"from":{}}', ''])
        await client.query('SELECT pg_notify($1, $2)', ['gateway_changes', payload]);
      await client.end();
    },
  },
  'SIGTERM with the database in a black hole': {
    database: 'server',
    recoversMs: 30 * SECOND,
    ends: true,
    async happen(day) {
      lineOf(day).shape({ outage: 'black hole' });
      expect(await day.gateway().kill('SIGTERM')).toBe(0);
      await day.heal();
      await day.restart();
    },
  },
  'kill -9 and a new start': {
    database: 'any',
    recoversMs: 30 * SECOND,
    ends: true,
    async happen(day) {
      await day.gateway().kill('SIGKILL');
      await day.restart();
    },
  },
  'SIGTERM and a new start': {
    database: 'any',
    recoversMs: 30 * SECOND,
    ends: true,
    async happen(day) {
      expect(await day.gateway().kill('SIGTERM')).toBe(0);
      await day.restart();
    },
  },
  'a log that nobody reads for 10 s': {
    database: 'any',
    recoversMs: SECOND,
    async happen(day) {
      day.gateway().readLog(false);
      await Promise.all([logMuch(day), wait(10 * SECOND)]);
      day.gateway().readLog(true);
    },
  },
  'a full disk below the log': {
    database: 'any',
    recoversMs: 30 * SECOND,
    ends: true,
    async happen(day) {
      const full = openSync('/dev/full', 'w');
      expect(await day.gateway().kill('SIGTERM')).toBe(0);
      await day.restart(full);
      closeSync(full);
      await logMuch(day);
      expect(await day.gateway().kill('SIGTERM')).toBe(0);
      await day.restart();
    },
  },
  'a machine that stands still for 12 s': {
    database: 'any',
    recoversMs: 5 * SECOND,
    async happen(day) {
      process.kill(day.gateway().pid, 'SIGSTOP');
      await wait(12 * SECOND);
      process.kill(day.gateway().pid, 'SIGCONT');
    },
  },
};
