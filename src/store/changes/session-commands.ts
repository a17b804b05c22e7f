// Routes commands to their session: in this process, or through the bus to the node that holds it.

import { setTimeout as wait } from 'node:timers/promises';
import type { CommandOutcome, SessionCommand, SessionCommands } from '../../tunnel/control/session-commands.ts';
import { newId } from '../ids.ts';
import type { PeerRelay } from './peer-relay.ts';

/** How long to wait for an agent's answer by default, in milliseconds. */
const COMMAND_TIMEOUT_MS = 5000;
/** The most characters of an agent's reason that are passed on. */
const REASON_MAX = 500;

/** A command sent to another node, and the outcome that it sends back. */
interface CommandRequest {
  id: string;
  sessionId: string;
  command: SessionCommand;
}
interface CommandResponse {
  id: string;
  outcome: CommandOutcome;
}

export interface SessionCommandDeps {
  /** Whether this process holds a session. */
  isOwn(sessionId: string): boolean;
  /** Sends commands to the sessions of this process. */
  local: SessionCommands;
  /** The messages to other processes; undefined when there are none, as with the embedded database. */
  peers?: Pick<PeerRelay, 'sendMessage' | 'onMessage'> | undefined;
  timeoutMs?: number;
}

/** Sends commands to any session of any node. It uses no connection of the pool, so it also works within transactions. */
export function sessionCommands({
  isOwn,
  local,
  peers,
  timeoutMs: limitMs = COMMAND_TIMEOUT_MS,
}: SessionCommandDeps): SessionCommands {
  const pending = new Map<string, (outcome: CommandOutcome) => void>();

  async function sendLocally(sessionId: string, command: SessionCommand): Promise<CommandOutcome> {
    const outcome = await withTimeout(local.command(sessionId, command), limitMs);
    return typeof outcome === 'string' ? outcome : { refused: outcome.refused.slice(0, REASON_MAX) };
  }

  async function sendToPeers(sessionId: string, command: SessionCommand): Promise<CommandOutcome> {
    if (!peers) return 'unreachable';
    const id = newId('cmd');
    const answered = new Promise<CommandOutcome>((resolve) => pending.set(id, resolve));
    try {
      await peers.sendMessage('command', { id, sessionId, command } satisfies CommandRequest);
      return await withTimeout(answered, limitMs);
    } catch {
      return 'unreachable';
    } finally {
      pending.delete(id);
    }
  }

  peers?.onMessage('command', async (body) => {
    const { id, sessionId, command } = body as CommandRequest;
    if (!isOwn(sessionId)) return;
    const outcome = await sendLocally(sessionId, command);
    await peers.sendMessage('outcome', { id, outcome } satisfies CommandResponse).catch(() => undefined); // The asking node has a timeout of its own.
  });
  peers?.onMessage('outcome', (body) => {
    const { id, outcome } = body as CommandResponse;
    pending.get(id)?.(outcome);
  });

  return {
    command: (sessionId, command) =>
      isOwn(sessionId) ? sendLocally(sessionId, command) : sendToPeers(sessionId, command),
  };
}

/** The outcome, or `unreachable` when it fails or does not come within the timeout. */
async function withTimeout(outcome: Promise<CommandOutcome>, ms: number): Promise<CommandOutcome> {
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
