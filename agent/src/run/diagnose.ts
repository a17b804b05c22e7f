// `diagnose`: what is between this machine and the gateway, one step after the other.

import { lookup } from 'node:dns/promises';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { callPeer, MuxSession, StreamType } from '@gateway/protocol';
import { type AgentConfig, writeAddress } from '../settings/config.ts';

const STEP_MS = 10_000;
const ROUNDS = 5;

/** Says what to do about it. */
const HINTS: Record<string, string> = {
  ENOTFOUND: 'The name does not exist: look at GATEWAY_ADDR.',
  EAI_AGAIN: 'The name server does not answer: look at the network of this machine.',
  ECONNREFUSED: 'Nothing listens there: look at GATEWAY_ADDR, and whether the gateway runs.',
  ETIMEDOUT: 'Nothing answers there: a firewall may be in between.',
  EHOSTUNREACH: 'There is no way there: look at the network of this machine.',
  ENETUNREACH: 'There is no way there: look at the network of this machine.',
  SELF_SIGNED_CERT_IN_CHAIN: 'Set GATEWAY_CA to the certificate of the authority that the gateway uses.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'Set GATEWAY_CA to the certificate of the authority that the gateway uses.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'Set GATEWAY_CA to the certificate of the authority that the gateway uses.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'Set GATEWAY_CA to the certificate of the authority that the gateway uses.',
  CERT_NOT_YET_VALID: 'Look at the clock of this machine.',
  CERT_HAS_EXPIRED: 'Look at the clock of this machine; otherwise the gateway needs a new certificate.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for other names: look at GATEWAY_ADDR.',
};

/**
 * Reports each step on a line, up to the first that fails, and why.
 * @returns whether an agent could reach the gateway; its authtoken is not tried.
 */
export async function diagnose({ gateway, ca }: AgentConfig, print: (line: string) => void): Promise<boolean> {
  const open: Socket[] = [];
  const step = async <T>(name: string, work: () => Promise<[said: string, result: T]>): Promise<T> => {
    const before = performance.now();
    try {
      const [said, result] = await withDeadline(work());
      print(`ok      ${name.padEnd(9)} ${said}  (${(performance.now() - before).toFixed(1)} ms)`);
      return result;
    } catch (error) {
      const { reason, code = '' } = error as NodeJS.ErrnoException & { reason?: string };
      // What OpenSSL says as a whole is for its developers.
      const message = reason ?? (error as Error).message;
      print(`FAILED  ${name.padEnd(9)} ${message}${code && !message.includes(code) ? ` (${code})` : ''}`);
      if (HINTS[code]) print(`        ${' '.repeat(9)} ${HINTS[code]}`);
      throw error;
    }
  };
  print(`Gateway ${writeAddress(gateway)}`);
  try {
    const address = await step('DNS', async () => {
      if (isIP(gateway.host)) return ['an address needs no look-up', gateway.host];
      const found = await lookup(gateway.host, { all: true });
      return [found.map((each) => each.address).join(', '), found[0]?.address ?? gateway.host];
    });
    const tcp = await step('TCP', async () => {
      const socket = connectTcp({ host: address, port: gateway.port, noDelay: true });
      open.push(socket);
      await event(socket, 'connect');
      return [`connected to ${writeAddress({ host: address, port: gateway.port })}`, socket];
    });
    const tls = await step('TLS', () => handshake(tcp, gateway.host, ca, open));
    await step('protocol', () => askServer(tls));
    return true;
  } catch {
    return false; // Told by the step.
  } finally {
    for (const socket of open) socket.destroy();
  }
}

/** Accepts any certificate for the time of looking at it: what is wrong with one is what people want to know. */
async function handshake(
  socket: Socket,
  host: string,
  ca: string | undefined,
  open: Socket[],
): Promise<[string, TLSSocket]> {
  const tls = connectTls({ socket, servername: isIP(host) ? '' : host, host, ca, rejectUnauthorized: false });
  open.push(tls);
  await event(tls, 'secureConnect');
  const { subject, issuer, valid_from, valid_to } = tls.getPeerCertificate();
  const about = `certificate of ${subject?.CN ?? 'nobody'} by ${issuer?.CN ?? 'nobody'}, valid ${valid_from} to ${valid_to}`;
  if (tls.authorized) return [`${tls.getProtocol()}, ${about}`, tls];
  // Node puts the code there, and says nothing else.
  const code = String((tls.authorizationError as unknown as NodeJS.ErrnoException)?.code ?? tls.authorizationError);
  throw Object.assign(new Error(`the certificate is not accepted: ${code}; ${about}`), { code });
}

/** What the gateway says of itself needs no authtoken; the fastest of some rounds is the latency. */
async function askServer(tls: TLSSocket): Promise<[string, undefined]> {
  let lost = '';
  const session = new MuxSession(
    tls,
    {
      onStream: (stream) => stream.reset(),
      onClose: (_, message) => {
        lost = message;
      },
    },
    { role: 'client', peerStreamsMax: 16 },
  );
  const times: number[] = [];
  let region: unknown;
  for (let round = 0; round < ROUNDS; round++) {
    const before = performance.now();
    const answer = await callPeer(session, StreamType.SERVER_INFO, {}, STEP_MS).catch((error: Error) => {
      throw new Error(`this does not speak the protocol of agents: ${lost || error.message}`);
    });
    times.push(performance.now() - before);
    region = (answer as { Region?: unknown }).Region;
  }
  session.close();
  const said = region ? `region ${region}` : 'the gateway answers';
  return [`${said}, latency ${Math.min(...times).toFixed(1)} ms`, undefined];
}

function event(socket: Socket, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(name, () => resolve());
    // The listener stays: an error between two steps must not end the process.
    socket.on('error', reject).once('close', () => reject(new Error('the connection was closed')));
  });
}

function withDeadline<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = Object.assign(new Error(`no answer within ${STEP_MS / 1000} s`), { code: 'ETIMEDOUT' });
    const timer = setTimeout(reject, STEP_MS, late);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
