// Sends remote commands to an agent.

import type { Auth } from '../../protocol/messages/auth.ts';
import { callPeer, StreamType } from '../../protocol/messages/typed-stream.ts';
import type { MuxSession } from '../../protocol/mux/mux-session.ts';
import type { AgentCommand } from '../control/session-commands.ts';
import type { AnnouncedRefusal } from './session-types.ts';

/** The time in which an agent must answer a command; milliseconds. */
const COMMAND_TIMEOUT_MS = 10_000;
/** The same for a move: it connects, and binds up to a thousand tunnels. */
const MOVE_TIMEOUT_MS = 15_000;

const COMMAND_TYPES = {
  stop: StreamType.STOP,
  restart: StreamType.RESTART,
  update: StreamType.UPDATE,
  move: StreamType.MOVE,
};

/** The commands that a person can send. */
const OFFERED = ['restart', 'stop', 'update'] as const;

/** The commands that an agent has said it does not support, with its reasons. */
export function announcedRefusals(auth: Auth): AnnouncedRefusal[] {
  return OFFERED.flatMap((command) => {
    const reason = unsupportedReason(auth, command);
    return reason === '' ? [] : [{ command, reason }];
  });
}

/**
 * Sends a command, unless the agent does not support it.
 * @param auth the agent's request for authentication, which names the unsupported commands.
 * @returns null when the agent accepts the command, otherwise its reason.
 * @throws {MessageError} when it does not answer in time.
 */
export async function sendCommand(session: MuxSession, auth: Auth, command: AgentCommand): Promise<string | null> {
  const unsupported = unsupportedReason(auth, command.kind);
  if (unsupported !== '') return unsupported;
  const request =
    command.kind === 'update' ? { Version: command.version, PermitMajorVersion: command.permitMajorVersion } : {};
  const timeout = command.kind === 'move' ? MOVE_TIMEOUT_MS : COMMAND_TIMEOUT_MS;
  const response = await callPeer(session, COMMAND_TYPES[command.kind], request, timeout);
  const { Error: reason } = response as { Error?: unknown };
  return reason ? String(reason) : null;
}

/** Why an agent does not follow a command, as it said when it connected; '' when it may. */
export function unsupportedReason(auth: Auth, kind: AgentCommand['kind']): string {
  const reasons = {
    stop: auth.stopUnsupported,
    restart: auth.restartUnsupported,
    update: auth.updateUnsupported,
    move: auth.moveUnsupported,
  };
  return reasons[kind] ?? 'the agent is too old to be told from afar';
}
