// The command `diagnose`: checks the path from this machine to the gateway, step by step.

import { lookup } from 'node:dns/promises';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { callPeer, MuxSession, StreamType } from '@gateway/protocol';
import { fixedLookup } from '../client/upstream.ts';
import type { ForwardProxy } from '../gateway-client.ts';
import { connectThrough, writeProxy } from '../proxy/connect-through.ts';
import type { AgentConfig } from '../settings/config.ts';
import { type HostAddress, writeAddress } from '../settings/host-address.ts';

/** The timeout of a step; milliseconds. */
const STEP_TIMEOUT_MS = 10_000;
/** The number of calls of which the fastest is the latency. */
const ROUNDS = 5;

/** What a person can do about an error, by its code. */
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
  PROXY_NET: 'Look at PROXY_URL or HTTPS_PROXY, and whether the proxy runs.',
  PROXY_LOGIN: 'Look at the user name and the password in PROXY_URL or HTTPS_PROXY.',
  PROXY_REFUSED:
    'The rules of the proxy must allow connections to the gateway: look at GATEWAY_ADDR, and ask its operator.',
  PROXY_PROTOCOL: 'Look at PROXY_URL or HTTPS_PROXY: the port and the scheme (http, https, socks5).',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for other names: look at GATEWAY_ADDR.',
};

/**
 * Prints the result of each step on a line, for each address of the gateway up to the first step that fails.
 * @returns whether an agent could reach the gateway at every address. The authtoken is not checked.
 */
export async function diagnose(config: AgentConfig, print: (line: string) => void): Promise<boolean> {
  let isReachable = true;
  for (const gateway of config.gateways) if (!(await diagnoseOne(gateway, config, print))) isReachable = false;
  return isReachable;
}

async function diagnoseOne(
  gateway: HostAddress,
  { ca, proxyFor }: AgentConfig,
  print: (line: string) => void,
): Promise<boolean> {
  const open: Socket[] = [];
  const step = async <T>(name: string, check: () => Promise<[text: string, result: T]>): Promise<T> => {
    const before = performance.now();
    try {
      const [text, result] = await withTimeout(check());
      print(`ok      ${name.padEnd(9)} ${text}  (${(performance.now() - before).toFixed(1)} ms)`);
      return result;
    } catch (error) {
      const { reason, code = '' } = error as NodeJS.ErrnoException & { reason?: string };
      // The whole message of OpenSSL is for its developers; `reason` is the readable part.
      const message = reason ?? describeFailure(error as Error);
      print(
        `FAILED  ${name.padEnd(9)} ${message}${code && !message.includes(code) && !code.startsWith('PROXY_') ? ` (${code})` : ''}`,
      );
      if (HINTS[code]) print(`        ${' '.repeat(9)} ${HINTS[code]}`);
      throw error;
    }
  };
  const directly = async () => {
    const addresses = await step('DNS', async () => {
      if (isIP(gateway.host)) return ['an address needs no look-up', [gateway.host]];
      const found = (await lookup(gateway.host, { all: true })).map((each) => each.address);
      return [found.join(', '), found];
    });
    return step('TCP', async () => {
      // As the agent does: one address after the other.
      const socket = connectTcp({ ...gateway, lookup: fixedLookup(addresses), noDelay: true });
      open.push(socket);
      await waitForEvent(socket, 'connect');
      const { remoteAddress: host = gateway.host } = socket;
      return [`connected to ${writeAddress({ host, port: gateway.port })}`, socket];
    });
  };
  const throughProxy = async (proxy: ForwardProxy): Promise<[string, Socket]> => {
    const socket = await connectThrough(proxy, gateway, { ca, timeout: STEP_TIMEOUT_MS });
    open.push(socket);
    return [`connected through ${writeProxy(proxy)}, which looks up names itself`, socket];
  };
  print(`Gateway ${writeAddress(gateway)}`);
  try {
    const proxy = proxyFor(gateway);
    const tcp = proxy ? await step('proxy', () => throughProxy(proxy)) : await directly();
    const tls = await step('TLS', () => handshake(tcp, gateway.host, ca, open));
    await step('protocol', () => askServer(tls));
    return true;
  } catch {
    return false; // The step has printed the error.
  } finally {
    for (const socket of open) socket.destroy();
  }
}

/** Accepts any certificate during the handshake, so that the output can say what is wrong with it. */
async function handshake(
  socket: Socket,
  host: string,
  ca: string | undefined,
  open: Socket[],
): Promise<[string, TLSSocket]> {
  const tls = connectTls({ socket, servername: isIP(host) ? '' : host, host, ca, rejectUnauthorized: false });
  open.push(tls);
  await waitForEvent(tls, 'secureConnect');
  const { subject, issuer, valid_from, valid_to } = tls.getPeerCertificate();
  const description = `certificate of ${subject?.CN ?? 'nobody'} by ${issuer?.CN ?? 'nobody'}, valid ${valid_from} to ${valid_to}`;
  if (tls.authorized) return [`${tls.getProtocol()}, ${description}`, tls];
  // Node sets `authorizationError` to the error or to its code.
  const code = String((tls.authorizationError as unknown as NodeJS.ErrnoException)?.code ?? tls.authorizationError);
  throw Object.assign(new Error(`the certificate is not accepted: ${code}; ${description}`), { code });
}

/** Calls the gateway, without an authtoken. The latency is that of the fastest call. */
async function askServer(tls: TLSSocket): Promise<[string, undefined]> {
  let closeReason = '';
  const session = new MuxSession(
    tls,
    {
      onStream: (stream) => stream.reset(),
      onClose: (_, message) => {
        closeReason = message;
      },
    },
    { role: 'client', peerStreamsMax: 16 },
  );
  const times: number[] = [];
  let region: unknown;
  for (let round = 0; round < ROUNDS; round++) {
    const before = performance.now();
    const answer = await callPeer(session, StreamType.SERVER_INFO, {}, STEP_TIMEOUT_MS).catch((error: Error) => {
      throw new Error(`this does not speak the protocol of agents: ${closeReason || error.message}`);
    });
    times.push(performance.now() - before);
    region = (answer as { Region?: unknown }).Region;
  }
  session.close();
  const text = region ? `region ${region}` : 'the gateway answers';
  return [`${text}, latency ${Math.min(...times).toFixed(1)} ms`, undefined];
}

function describeFailure(error: Error): string {
  // A name with several addresses fails with one error for each address.
  if (error instanceof AggregateError) return error.errors.map((each: Error) => each.message).join(', ');
  return error.message;
}

function waitForEvent(socket: Socket, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(name, () => resolve());
    // The error listener stays attached: an error between two steps must not end the process.
    socket.on('error', reject).once('close', () => reject(new Error('the connection was closed')));
  });
}

function withTimeout<T>(promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = Object.assign(new Error(`no answer within ${STEP_TIMEOUT_MS / 1000} s`), { code: 'ETIMEDOUT' });
    const timer = setTimeout(reject, STEP_TIMEOUT_MS, late);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
