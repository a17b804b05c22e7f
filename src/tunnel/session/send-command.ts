// Sends remote commands to an agent.

import type { Auth } from '../../protocol/messages/auth.ts';
import { callPeer, StreamType } from '../../protocol/messages/typed-stream.ts';
import type { MuxSession } from '../../protocol/mux/mux-session.ts';
import type { SessionCommand } from '../control/session-commands.ts';

/** The time in which an agent must answer a command; milliseconds. */
const COMMAND_TIMEOUT_MS = 10_000;

const COMMAND_TYPES = { stop: StreamType.STOP, restart: StreamType.RESTART, update: StreamType.UPDATE };

/**
 * Sends a command, unless the agent does not support it.
 * @param auth the agent's request for authentication, which names the unsupported commands.
 * @returns null when the agent accepts the command, otherwise its reason.
 * @throws {MessageError} when it does not answer in time.
 */
export async function sendCommand(session: MuxSession, auth: Auth, command: SessionCommand): Promise<string | null> {
  const unsupported = {
    stop: auth.stopUnsupported,
    restart: auth.restartUnsupported,
    update: auth.updateUnsupported,
  }[command.kind];
  if (unsupported === null) return 'the agent is too old to be told from afar';
  if (unsupported !== '') return unsupported;
  const request =
    command.kind === 'update' ? { Version: command.version, PermitMajorVersion: command.permitMajorVersion } : {};
  const response = await callPeer(session, COMMAND_TYPES[command.kind], request, COMMAND_TIMEOUT_MS);
  const { Error: reason } = response as { Error?: unknown };
  return reason ? String(reason) : null;
}
