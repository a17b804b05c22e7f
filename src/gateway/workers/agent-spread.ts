// Spreads agents over the workers again. When a worker ends, its agents connect to the others within moments, and stay there when it is
// back: one that has many more than the mean has some of them move.

import type { Logger } from 'pino';
import type { ConnectionCounts } from '../../net/connection-counts.ts';
import { describeFailure } from '../../runtime/describe-failure.ts';
import type { SessionMoves } from '../../tunnel/session/session-moves.ts';
import type { AcceptBalance } from './accept-balance.ts';

/** How often a worker looks at what the others have; milliseconds. */
const LOOK_MS = 5000;
/** Looks in a row at which it has too many: agents that have lost their worker may still be on their way to another. */
const LOOKS = 3;
/** How many agents more than the mean a worker may have: so many, or this share of the mean. Both are above what accepting leaves. */
const LEAD_MIN = 4;
const LEAD_SHARE = 1 / 8;

export interface AgentSpreadOptions {
  counts: Pick<ConnectionCounts, 'others'>;
  balance: Pick<AcceptBalance, 'standBack'>;
  moves: Pick<SessionMoves, 'size' | 'spread' | 'endLeft'>;
  log: Logger;
}

/** @returns what ends it. */
export function startAgentSpread({ counts, balance, moves, log }: AgentSpreadOptions): () => void {
  let looks = 0;
  let isOver = false;
  let isSpreading = false;
  /** How many agents are to move until all workers have the same. */
  const lead = () => {
    const { processes, open } = counts.others('agent');
    const mean = (moves.size + open) / (processes + 1);
    return { mean, lead: moves.size - mean };
  };
  const isDue = () => {
    if (isOver || lead().lead < 1) return false;
    // The agent is to come to another worker.
    balance.standBack('agent');
    return true;
  };
  const look = async () => {
    if (isSpreading) return;
    moves.endLeft();
    const { mean, lead: agents } = lead();
    looks = agents > Math.max(LEAD_MIN, mean * LEAD_SHARE) ? looks + 1 : 0;
    if (looks < LOOKS) return;
    isSpreading = true;
    log.info({ agents: Math.floor(agents) }, 'other workers have fewer agents: some move there');
    await moves.spread(isDue).finally(() => {
      isSpreading = false;
    });
    looks = 0;
  };
  const failed = (error: unknown) => log.warn({ err: describeFailure(error) }, 'agents cannot move');
  const timer = setInterval(() => void look().catch(failed), LOOK_MS).unref();
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}
