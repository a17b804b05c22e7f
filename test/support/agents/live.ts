// What the tunnel side tells the control plane when agents come, with nothing in particular in it.

import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { newId, newSecret } from '../../../src/store/ids.ts';
import type { AgentRefusal, BindRequest, OpenedSession } from '../../../src/tunnel/control/registrar.ts';
import type { Owner, TestGateway } from '../gateway/gateway.ts';

type Party = Pick<TestGateway, 'registrar'>;

export const newClientId = () => randomBytes(16).toString('hex');

/** Opens a session of an agent that was never there before. @returns its id. */
export function openSession(
  { registrar }: Party,
  { accountId, credentialId }: Pick<OpenedSession, 'accountId' | 'credentialId'>,
  more: Partial<OpenedSession> = {},
): Promise<string> {
  return registrar.sessionOpened({
    clientId: newClientId(),
    leg: 0,
    moves: false,
    agentVersion: '1.0.0',
    ip: '127.0.0.1',
    os: 'linux',
    arch: 'x64',
    userAgent: 'agent/1.0.0',
    ingress: { serverIp: '127.0.0.1', hostname: 'localhost' },
    metadata: '',
    agent: { deviceId: '', name: '', hostName: 'localhost', labels: {}, refusals: {} },
    transport: 'muxado/2',
    accountId,
    credentialId,
    ...more,
  });
}

/** A request for a name on the HTTP listener. */
export function nameRequest(sessionId: string, hostname: string, more: Partial<BindRequest> = {}): BindRequest {
  return {
    sessionId,
    resume: null,
    proto: 'http',
    hostname,
    port: 80,
    isGenerated: false,
    publicUrl: `${more.proto ?? 'http'}://${hostname}`,
    pooling: false,
    forwardsTo: 'http://localhost:3000',
    metadata: '',
    ...more,
  };
}

/** What was bound. @throws when it was refused. */
export function bound<T extends object>(answer: T | AgentRefusal): T {
  expect(answer).not.toHaveProperty('refused');
  return answer as T;
}

export interface TestCredential {
  accountId: string;
  credentialId: string;
  authtoken: string;
}

/** A credential of an account, through the API. */
export async function newCredential(
  { accountId, call }: Pick<Owner, 'accountId' | 'call'>,
  more: object = {},
): Promise<TestCredential> {
  const { status, body } = await call('POST', '/credentials', more);
  expect(status).toBe(201);
  return { accountId, credentialId: body.id, authtoken: body.token };
}

/** An authtoken of the right form that nobody has. */
export const strangeToken = (id: string) => newSecret(id);

/** Reserves a domain. @returns the id of the reservation. */
export async function reserve({ call }: Pick<Owner, 'call'>, domain: string): Promise<string> {
  const { status, body, text } = await call('POST', '/reserved_domains', { domain });
  expect(status, text).toBe(201);
  return body.id;
}

/** Gives what a session serves to a node, as one that died left it; or, before its lease ends, as one that is alive. */
export async function leaveTo(
  { app: { prisma } }: Pick<TestGateway, 'app'>,
  sessionId: string,
  leaseUntil: number,
  nodeId = newId('node'),
): Promise<string> {
  const lease = { leaseUntil: new Date(leaseUntil) };
  await prisma.node.upsert({ where: { id: nodeId }, create: { id: nodeId, ...lease }, update: lease });
  await prisma.tunnelSession.update({ where: { id: sessionId }, data: { nodeId } });
  await prisma.endpoint.updateMany({ where: { tunnel: { sessionId } }, data: { nodeId } });
  return nodeId;
}
