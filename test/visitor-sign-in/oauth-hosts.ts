// The hosts of OAuth providers, in the place of which one server on this machine stands: it answers as the documentation of each
// says, written apart from what reads it.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { StandInServer } from '../../src/policy/keys/fetch-bytes.ts';
import { newIssuer } from '../support/issuer.ts';

/** What a host answers at a path. */
export type HostAnswers = Record<string, unknown>;

export interface OauthHosts {
  standIn: StandInServer;
  /** What it answers, by host and path; a function is given the request's form or query. */
  answers: HostAnswers;
  /** What came, in order. */
  asked: { place: string; headers: Record<string, unknown>; form: Record<string, string> }[];
  /** The challenge (RFC 7636) that the verifier of the next code must fit; undefined: none is expected. */
  challenge: string | undefined;
  close(): Promise<void>;
}

export async function startOauthHosts(names: string[]): Promise<OauthHosts> {
  const issuer = await newIssuer('CN=authority of the test');
  const { cert, key } = await issuer.issue({ subject: 'CN=providers', dns: names, purpose: 'server' });
  const hosts: Omit<OauthHosts, 'standIn' | 'close'> = { answers: {}, asked: [], challenge: undefined };
  const server = createServer({ cert, key }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
    const place = `${request.headers.host}${request.url}`;
    hosts.asked.push({ place, headers: request.headers, form });
    const { code_verifier: verifier = '' } = form;
    const challenge = verifier && createHash('sha256').update(verifier).digest('base64url');
    const isRight = form.grant_type !== 'authorization_code' || challenge === (hosts.challenge ?? '');
    const answer = isRight ? hosts.answers[place] : { error: 'invalid_grant' };
    const status = answer === undefined ? 404 : isRight ? 200 : 400;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer ?? {}));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const standIn: StandInServer = {
    port,
    ca: issuer.cert,
    resolve: (_, __, found) => found(null, [{ address: '127.0.0.1', family: 4 }]),
  };
  return Object.assign(hosts, {
    standIn,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}
