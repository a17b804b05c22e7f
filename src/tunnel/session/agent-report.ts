// What an agent says of itself, cut to what is kept of it.

import type { Auth } from '../../protocol/messages/auth.ts';
import type { AgentReport } from '../control/registrar.ts';
import type { SessionCommand } from '../control/session-commands.ts';
import { unsupportedReason } from './send-command.ts';
import { truncateText } from './text-limits.ts';

/** The labels that are kept of an agent, and the most bytes of their keys and values. Others are left out. */
const LABELS_MAX = 20;
const KEY_MAX = 64;
const VALUE_MAX = 128;
/** The most characters of the name that an agent gives itself. */
const NAME_MAX = 128;
const DEVICE_ID = /^[0-9A-Za-z_-]{16,64}$/;
const COMMANDS: readonly SessionCommand['kind'][] = ['restart', 'stop', 'update'];

export function agentReport(auth: Auth): AgentReport {
  const reasons = COMMANDS.map((command) => [command, truncateText(unsupportedReason(auth, command))] as const);
  return {
    deviceId: DEVICE_ID.test(auth.deviceId) ? auth.deviceId : '',
    name: truncateText(auth.name).slice(0, NAME_MAX).trim(),
    hostName: truncateText(auth.hostName),
    labels: Object.fromEntries(Object.entries(auth.labels).filter(isLabel).slice(0, LABELS_MAX)),
    refusals: Object.fromEntries(reasons.filter(([, reason]) => reason !== '')),
  };
}

function isLabel([key, value]: [string, string]): boolean {
  return isText(key, KEY_MAX) && !key.includes('=') && isText(value, VALUE_MAX);
}

function isText(text: string, max: number): boolean {
  return text !== '' && Buffer.byteLength(text) <= max && text.isWellFormed() && !text.includes('\0');
}
