// Tells the control plane of binds that are refused, with what the agent asked for.

import { Fields } from '../../protocol/messages/fields.ts';
import type { BindingSession } from '../bind/bind-tunnel.ts';
import { AgentError } from '../control/agent-errors.ts';
import type { Registrar } from '../control/registrar.ts';
import { truncateText } from './text-limits.ts';

/** The options that name an address, the one that counts first. */
const ADDRESS_OPTIONS = ['URL', 'Addr', 'Hostname', 'Domain', 'Subdomain'];

/** Nobody waits for it, and what fails is lost: the agent has its answer in any case. */
export function reportRefusedBind(
  registrar: Pick<Registrar, 'bindRefused'>,
  { sessionId, accountId, credentialId }: BindingSession,
  request: object,
  error: unknown,
): void {
  if (!(error instanceof AgentError) || error.reason === 'sessionEnded') return;
  const asked = truncateText(askedFor(new Fields(request)));
  const refusal = { sessionId, accountId, credentialId, asked, reason: error.message };
  registrar.bindRefused(refusal).catch(() => undefined);
}

function askedFor(request: Fields): string {
  try {
    const labels = Object.entries(request.labels('Labels'));
    if (labels.length > 0) return labels.map(([key, value]) => `${key}=${value}`).join(', ');
    const options = request.fields('Opts');
    const address = ADDRESS_OPTIONS.map((name) => options.text(name)).find((text) => text !== '');
    return `${request.text('Proto')} ${address ?? 'any address'}`;
  } catch {
    return 'what cannot be read';
  }
}
