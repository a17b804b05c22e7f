// Commands find their session: here, or over the database at the node that has it.

import { setTimeout as wait } from 'node:timers/promises';
import type { CommandOutcome, SessionCommand, SessionCommands } from '../../tunnel/control/session-commands.ts';
import { newId } from '../ids.ts';
import type { Notifications } from './notifications.ts';

/** How long an agent's answer is waited for, unless told otherwise; milliseconds. */
const LIMIT_MS = 5000;
/** Characters of an agent's reason that are passed on. */
const REASON_MAX = 500;

/** A command under way to another node, and its outcome on the way back. */
interface Question {
  id: string;
  sessionId: string;
  command: SessionCommand;
}
interface Answer {
  id: string;
  outcome: CommandOutcome;
}

export interface SessionCommandDeps {
  /** Whether a session is of this process. */
  isOwn(sessionId: string): boolean;
  /** Tells the sessions of this process. */
  local: SessionCommands;
  /** The way to other processes, where there can be any. */
  peers?: Pick<Notifications, 'say' | 'hear'> | undefined;
  limitMs?: number;
}

/** @returns what tells any session of any node. It uses no connection of the pool, so it works within transactions. */
export function sessionCommands({ isOwn, local, peers, limitMs = LIMIT_MS }: SessionCommandDeps): SessionCommands {
  const waiting = new Map<string, (outcome: CommandOutcome) => void>();

  async function ofOwn(sessionId: string, command: SessionCommand): Promise<CommandOutcome> {
    const outcome = await limited(local.command(sessionId, command), limitMs);
    return typeof outcome === 'string' ? outcome : { refused: outcome.refused.slice(0, REASON_MAX) };
  }

  async function ofPeers(sessionId: string, command: SessionCommand): Promise<CommandOutcome> {
    if (!peers) return 'unreachable';
    const id = newId('cmd');
    const answered = new Promise<CommandOutcome>((resolve) => waiting.set(id, resolve));
    try {
      await peers.say('command', { id, sessionId, command } satisfies Question);
      return await limited(answered, limitMs);
    } catch {
      return 'unreachable';
    } finally {
      waiting.delete(id);
    }
  }

  peers?.hear('command', async (body) => {
    const { id, sessionId, command } = body as Question;
    if (!isOwn(sessionId)) return;
    const outcome = await ofOwn(sessionId, command);
    await peers.say('outcome', { id, outcome } satisfies Answer).catch(() => undefined); // Who asks has a limit too.
  });
  peers?.hear('outcome', (body) => {
    const { id, outcome } = body as Answer;
    waiting.get(id)?.(outcome);
  });

  return {
    command: (sessionId, command) => (isOwn(sessionId) ? ofOwn(sessionId, command) : ofPeers(sessionId, command)),
  };
}

/** What does not come in time, or fails, does not come. */
async function limited(outcome: Promise<CommandOutcome>, ms: number): Promise<CommandOutcome> {
  const ended = new AbortController();
  const late = wait(ms, 'unreachable' as const, { signal: ended.signal, ref: false });
  try {
    return await Promise.race([outcome, late]);
  } catch {
    return 'unreachable';
  } finally {
    late.catch(() => undefined);
    ended.abort();
  }
}
