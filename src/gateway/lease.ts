// Keeps the lease by which what this node serves counts.

import type { Logger } from 'pino';
import { describeFailure } from '../api/failure.ts';
import type { NodeLease } from '../store/node-lease.ts';
import { every } from './housekeeping.ts';

/** Renews a lease three times in its length. @returns what ends that. */
export function renewLease(node: NodeLease, leaseMs: number, log: Logger): () => void {
  node.onLapse(() => log.warn('the node’s lease had ended before it was renewed: its agents have to come anew'));
  const renewal = every(
    leaseMs / 3,
    () => node.renew(),
    (error) => log.warn({ err: describeFailure(error) }, 'the node’s lease could not be renewed'),
  );
  return () => clearInterval(renewal);
}
