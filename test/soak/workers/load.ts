// Many visitors at once, from a process of their own.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { root } from '../../support/root.ts';

export interface Job {
  /** `host:port` of a listener. */
  listener: string;
  /** The name of a tunnel whose service answers with `BODY`. */
  host: string;
  connections: number;
  /** Whether each request gets a connection of its own. */
  close: boolean;
  seconds: number;
}

export interface Outcome {
  requests: number;
  seconds: number;
  p50: number;
  p99: number;
}

export const BODY = 'hello';

export class Load {
  readonly #client: ChildProcess = fork(join(root, 'test/bench/data-plane/client.js'));

  /** @throws at the first wrong answer. */
  async run({ listener, ...job }: Job): Promise<Outcome> {
    const port = Number(listener.split(':')[1]);
    this.#client.send({ kind: 'requests', over: 'http', path: '/', bytes: BODY.length, port, ...job });
    const [outcome] = (await once(this.#client, 'message')) as [Outcome | { error: string }];
    if ('error' in outcome) throw new Error(outcome.error);
    return outcome;
  }

  stop(): void {
    this.#client.kill();
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export const say = (text: string) => void process.stdout.write(`${text}\n`);
