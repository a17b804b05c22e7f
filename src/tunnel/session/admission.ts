// Who an agent is: its authtoken, and whether it was here before.

import { randomBytes } from 'node:crypto';
import type { Auth } from '../../protocol/messages/messages.ts';
import { refusal } from '../bind/bind-tunnel.ts';
import { AgentError } from '../control/agent-errors.ts';
import { kindOf } from '../control/compatibility.ts';
import type { Grant, OpenedSession, Refusal } from '../control/registrar.ts';
import type { Admitted, AgentRooms } from './session-types.ts';
import { aboutText, checkText, METADATA_MAX } from './text-limits.ts';

const VERSIONS = ['3', '2'];

/** What is known of an agent's connection. */
export interface AgentConnection {
  /** The agent's address as the gateway sees it. */
  ip: string;
  /** The gateway's own address, and the name that the agent asked for, or ''. */
  ingress: OpenedSession['ingress'];
  /** Whether it is still there. */
  isOpen(): boolean;
  /** The authtoken is not good; to be told before its bearer is. */
  onRefused(): void;
}

/**
 * Checks an authtoken and opens the session. A session that the agent had before, here or on another node, is over then.
 * @throws {AgentError} why the agent is not let in.
 */
export async function admit(auth: Auth, connection: AgentConnection, rooms: AgentRooms): Promise<Admitted> {
  if (!auth.versions.some((version) => VERSIONS.includes(version)))
    throw new AgentError('unknownVersion', { versions: VERSIONS.join(' and ') });
  checkText('Metadata', auth.metadata, METADATA_MAX);
  const admitted = await rooms.checks.inTurn(() => open(auth, connection, rooms));
  if (!('refused' in admitted)) return admitted;
  connection.onRefused();
  await rooms.checks.refused(connection.ip);
  throw refusal(admitted);
}

async function open(
  auth: Auth,
  { ip, ingress, isOpen }: AgentConnection,
  { registrar, tokens, sessions, shares }: AgentRooms,
): Promise<Admitted | Refusal> {
  if (!isOpen()) return { refused: 'sessionEnded' }; // While it waited for its turn.
  const grant = await registrar.authenticate(auth.authtoken);
  if ('refused' in grant) return grant;
  const clientId = rememberedClient(auth, grant, tokens.isCookie.bind(tokens)) ?? randomBytes(16).toString('hex');
  sessions.evict(grant.accountId, clientId);
  const share = shares.join(grant.accountId);
  const opened = registrar.sessionOpened({
    accountId: grant.accountId,
    credentialId: grant.credentialId,
    clientId,
    agentVersion: aboutText(auth.agentVersion || auth.userAgent),
    ip,
    ingress,
    os: aboutText(auth.os),
    arch: aboutText(auth.arch),
    userAgent: aboutText(auth.userAgent),
    metadata: auth.metadata,
    transport: 'muxado/2',
  });
  const sessionId = await opened.catch((error) => {
    share.leave();
    throw error;
  });
  const { accountId, credentialId, acl } = grant;
  return {
    sessionId,
    accountId,
    credentialId,
    allowance: { acl },
    clientId,
    cookie: tokens.cookie(accountId, clientId),
    kind: kindOf(auth),
    auth,
    share,
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
