// Which statements a piece of a test takes. What a gateway asks by itself meanwhile (leases, deliveries, sweeps) does not count, however
// slow the machine is: a statement belongs to the work in whose asynchronous context it is sent.

import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';

interface Counted {
  id: string;
  statements: string[];
}

/** Takes the context of a test through a socket to the gateway in the same process. */
const HEADER = 'x-counted-by-test';
const context = new AsyncLocalStorage<Counted | undefined>();
const underWay = new Map<string, Counted>();
let count = 0;

subscribe('http.server.request.start', (message) => {
  const { request } = message as { request: IncomingMessage };
  context.enterWith(underWay.get(String(request.headers[HEADER])));
});

/** What a request of a test is to have, so that its statements count. */
export function countingHeaders(): Record<string, string> {
  const counted = context.getStore();
  return counted ? { [HEADER]: counted.id } : {};
}

/**
 * Options of a gateway whose requests' statements count. Its clock stands still: a caller who is known stays known,
 * so that no request asks for the caller anew because five seconds have passed.
 */
export function countingAtOneTime() {
  const time = Date.now();
  return { counting: true, now: () => time };
}

export function noteStatement(statement: string): void {
  context.getStore()?.statements.push(statement);
}

/** The statements that some work takes, directly or by requests of `account.call` and `account.graphql`. */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const counted: Counted = { id: String(++count), statements: [] };
  underWay.set(counted.id, counted);
  try {
    await context.run(counted, work);
    return [...counted.statements];
  } finally {
    underWay.delete(counted.id);
  }
}

/** Statements without their parameters' numbers: those of lists are as one. */
export function shapesOf(statements: readonly string[]): string[] {
  return statements.map((text) => text.replaceAll(/\$\d+(?:\s*,\s*\$\d+)*/g, '$')).sort();
}
