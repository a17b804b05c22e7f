// Who an agent is: its authtoken, and whether it was here before.

import { randomBytes } from 'node:crypto';
import type { Auth } from '../protocol/messages.ts';
import { AgentError } from './agent-errors.ts';
import type { Admitted, AgentRooms } from './agent-rooms.ts';
import { refusal } from './binder.ts';
import { kindOf } from './compatibility.ts';
import type { Grant, OpenedSession } from './registrar.ts';
import { aboutText, checkText, METADATA_MAX } from './texts.ts';

const VERSIONS = ['3', '2'];

/** What is known of an agent's connection. */
export interface AgentConnection {
  /** The agent's address as the gateway sees it. */
  ip: string;
  /** The gateway's own address, and the name that the agent asked for, or ''. */
  ingress: OpenedSession['ingress'];
}

/**
 * Checks an authtoken and opens the session. A session that the agent had before, here or on another node, is over then.
 * @throws {AgentError} why the agent is not let in.
 */
export async function admit(
  auth: Auth,
  connection: AgentConnection,
  { registrar, tokens, sessions }: AgentRooms,
): Promise<Admitted> {
  if (!auth.versions.some((version) => VERSIONS.includes(version)))
    throw new AgentError('unknownVersion', { versions: VERSIONS.join(' and ') });
  checkText('Metadata', auth.metadata, METADATA_MAX);
  const grant = await registrar.authenticate(auth.authtoken);
  if ('refused' in grant) throw refusal(grant);
  const clientId = rememberedClient(auth, grant, tokens.isCookie.bind(tokens)) ?? randomBytes(16).toString('hex');
  sessions.evict(grant.accountId, clientId);
  const sessionId = await registrar.sessionOpened({
    accountId: grant.accountId,
    credentialId: grant.credentialId,
    clientId,
    agentVersion: aboutText(auth.agentVersion || auth.userAgent),
    ...connection,
    os: aboutText(auth.os),
    arch: aboutText(auth.arch),
    userAgent: aboutText(auth.userAgent),
    metadata: auth.metadata,
    transport: 'muxado/2',
  });
  const { accountId, credentialId } = grant;
  return {
    sessionId,
    accountId,
    credentialId,
    clientId,
    cookie: tokens.cookie(accountId, clientId),
    kind: kindOf(auth),
    auth,
  };
}

/** The id of the session before, where the agent can prove that it was its own. */
function rememberedClient(
  { clientId, cookie }: Auth,
  { accountId }: Grant,
  isCookie: (text: string, accountId: string, clientId: string) => boolean,
): string | undefined {
  return clientId !== '' && isCookie(cookie, accountId, clientId) ? clientId : undefined;
}
