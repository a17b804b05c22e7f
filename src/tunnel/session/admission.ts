// The admission of agents: checks the authtoken and recognizes returning agents.

import { randomBytes } from 'node:crypto';
import type { Auth } from '../../protocol/messages/auth.ts';
import { bindError } from '../bind/bind-tunnel.ts';
import { AgentError } from '../control/agent-errors.ts';
import { agentKindOf } from '../control/compatibility.ts';
import { LEG_MAX } from '../control/leg-numbers.ts';
import type { AgentRefusal, Grant, OpenedSession } from '../control/registrar.ts';
import { agentReport } from './agent-report.ts';
import type { AdmittedSession, SessionDeps } from './session-types.ts';
import { checkTextLimit, METADATA_MAX, truncateText } from './text-limits.ts';

const PROTOCOL_VERSIONS = ['3', '2'];

/** The connection of an agent that asks for admission. */
export interface AdmissionContext {
  /** The remote address of the connection. */
  ip: string;
  /** The local address of the connection, and the server name of its TLS handshake, or ''. */
  ingress: OpenedSession['ingress'];
  /** Whether the connection is still open. */
  isOpen(): boolean;
  /** Called when the authtoken is refused, before the agent gets the response. */
  onRefused(): void;
}

/**
 * Checks the authtoken and opens the session. It replaces an earlier session of the same agent with the same leg number, on this
 * node or another, unless the agent moves.
 * @throws {AgentError} the reason why the agent is refused.
 */
export async function admit(auth: Auth, connection: AdmissionContext, deps: SessionDeps): Promise<AdmittedSession> {
  if (!auth.versions.some((version) => PROTOCOL_VERSIONS.includes(version)))
    throw new AgentError('unknownVersion', { versions: PROTOCOL_VERSIONS.join(' and ') });
  checkTextLimit('Metadata', auth.metadata, METADATA_MAX);
  const { legNumber: leg } = auth;
  if (!Number.isInteger(leg) || leg < 0 || leg > LEG_MAX) throw new AgentError('badLeg', { max: LEG_MAX, leg });
  const admitted = await deps.authtokenThrottle.limitAdmissions(() => openSession(auth, connection, deps));
  if (!('refused' in admitted)) return admitted;
  connection.onRefused();
  await deps.authtokenThrottle.delayRefusal(connection.ip);
  throw bindError(admitted);
}

async function openSession(
  auth: Auth,
  { ip, ingress, isOpen }: AdmissionContext,
  { registrar, addresses, tokens, sessions, quotas }: SessionDeps,
): Promise<AdmittedSession | AgentRefusal> {
  if (!isOpen()) return { refused: 'sessionEnded' }; // It was closed while it waited in the queue.
  const grant = await registrar.authenticate(auth.authtoken);
  if ('refused' in grant) return grant;
  const isElsewhere = addresses.of(grant.accountId)?.refusal(ip) !== undefined;
  if (isElsewhere) throw new AgentError('addressRestricted', { ip });
  const earlierId = verifiedClientId(auth, grant, tokens.verifyCookie.bind(tokens));
  const { legNumber: leg, moves } = auth;
  if (leg > 0 && earlierId === undefined) throw new AgentError('legWithoutSession', { leg });
  const clientId = earlierId ?? randomBytes(16).toString('hex');
  if (!moves)
    sessions.evict(
      grant.accountId,
      clientId,
      leg,
      auth.hostName === '' ? ip : `${ip} (${truncateText(auth.hostName)})`,
    );
  const quota = quotas.join(grant.accountId);
  const opened = registrar.sessionOpened({
    accountId: grant.accountId,
    credentialId: grant.credentialId,
    clientId,
    leg,
    moves,
    agentVersion: truncateText(auth.agentVersion || auth.userAgent),
    ip,
    ingress,
    os: truncateText(auth.os),
    arch: truncateText(auth.arch),
    userAgent: truncateText(auth.userAgent),
    metadata: auth.metadata,
    tokenNumber: grant.tokenNumber,
    agent: agentReport(auth),
    transport: 'muxado/2',
  });
  const sessionId = await opened.catch((error) => {
    quota.release();
    throw error;
  });
  const { accountId, credentialId, acl, tokenNumber } = grant;
  return {
    sessionId,
    accountId,
    credentialId,
    allowance: { acl },
    clientId,
    leg,
    cookie: tokens.cookie(accountId, clientId),
    ip,
    tokenNumber,
    kind: agentKindOf(auth),
    auth,
    quota,
  };
}

/** The id of the session to take over, when the agent proves with its cookie that the session was its own. */
function verifiedClientId(
  { clientId, cookie }: Auth,
  { accountId }: Grant,
  isCookie: (text: string, accountId: string, clientId: string) => boolean,
): string | undefined {
  return clientId !== '' && isCookie(cookie, accountId, clientId) ? clientId : undefined;
}
