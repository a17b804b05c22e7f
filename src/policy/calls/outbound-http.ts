// Sends requests of policies over HTTP, over the network or over a connection that is given. On the network, only public addresses
// are reached unless the operator allows others: the author of a policy could reach the gateway's private network (SSRF).

import { once } from 'node:events';
import { Agent as HttpAgent, type IncomingMessage, request as overHttp } from 'node:http';
import { Agent as HttpsAgent, request as overHttps } from 'node:https';
import type { Duplex } from 'node:stream';
import { HeaderList } from '../../http/header-list.ts';
import { OutboundFailed, type OutboundRequest, type OutboundResponse } from '../../http/outbound.ts';
import { guardedLookup } from '../../net/public-addresses.ts';
import { CLIENT_TLS } from '../../protocol/tls-suites.ts';
import { type FetchReach, notPublicError } from '../keys/fetch-bytes.ts';
import { callUrlProblem, internalNameOf } from './call-url.ts';
import { readDecodedBody } from './response-body.ts';

/** The most requests of one account at a time, and of all. */
const RUNNING_PER_ACCOUNT_MAX = 64;
const RUNNING_MAX = 1024;
/** How long an idle connection is kept for the next request; milliseconds. Most servers close theirs after 5 s. */
const IDLE_MS = 4000;
/** The most idle connections to one server. */
const IDLE_MAX = 16;
/** What may be sent again when an idle connection turns out to be closed (RFC 9110, section 9.2.2). */
const IDEMPOTENT = new Set(['GET', 'PUT', 'DELETE', 'OPTIONS']);

/** The requests of all policies of this process. Its connections are kept for the next request to the same server. */
export class OutboundHttp {
  readonly #reach: Omit<FetchReach, 'timeout'>;
  readonly #agents: { http: HttpAgent; https: HttpsAgent };
  /** How many run, by account. */
  readonly #running = new Map<string, number>();
  #runningSum = 0;

  constructor(reach: Omit<FetchReach, 'timeout'>) {
    this.#reach = reach;
    const options = { keepAlive: true, maxFreeSockets: IDLE_MAX, timeout: IDLE_MS };
    this.#agents = { http: new HttpAgent(options), https: new HttpsAgent(options) };
  }

  /** As `SendOutbound` says. The body of the response has at most 256 KiB. */
  async send(
    accountId: string,
    request: OutboundRequest,
    signal: AbortSignal,
    connect?: () => Duplex,
  ): Promise<OutboundResponse> {
    const { url } = request;
    const problem = callUrlProblem(url.href, this.#reach.hosts);
    if (problem) throw new OutboundFailed(`${url.host} cannot be asked: the URL ${problem}`);
    if (!connect && internalNameOf(url) !== undefined)
      throw new OutboundFailed(`${url.host} cannot be asked: internal endpoints are not reached from here`);
    const running = this.#running.get(accountId) ?? 0;
    if (running >= RUNNING_PER_ACCOUNT_MAX || this.#runningSum >= RUNNING_MAX)
      throw new OutboundFailed('too many requests of policies run at once', 'tooManyCalls');
    this.#running.set(accountId, running + 1);
    this.#runningSum++;
    try {
      const response = connect ? this.#responseOver(connect, request, signal) : this.#responseTo(request, signal, true);
      return await readWhole(await response);
    } catch (error) {
      if (error instanceof OutboundFailed || signal.aborted) throw error;
      throw new OutboundFailed(`${url.host} did not answer: ${error instanceof Error ? error.message : error}`);
    } finally {
      this.#release(accountId);
    }
  }

  /** Closes the idle connections. */
  close(): void {
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }

  #release(accountId: string): void {
    this.#runningSum--;
    const left = (this.#running.get(accountId) ?? 1) - 1;
    if (left > 0) this.#running.set(accountId, left);
    else this.#running.delete(accountId);
  }

  /** To an internal endpoint: the connection is for this request alone, and has no TLS whatever the scheme is. */
  async #responseOver(connect: () => Duplex, request: OutboundRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const { method, url, body } = request;
    const path = `${url.pathname}${url.search}`;
    const sent = overHttp({ method, path, headers: headersOf(request), createConnection: connect, signal });
    sent.on('error', () => {}); // Whoever waits for the response gets it.
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response;
  }

  async #responseTo(request: OutboundRequest, signal: AbortSignal, isPooled: boolean): Promise<IncomingMessage> {
    const { method, url, body } = request;
    const { hosts, standIn } = this.#reach;
    const isTls = url.protocol === 'https:';
    const sent = (isTls ? overHttps : overHttp)(url, {
      method,
      headers: headersOf(request),
      agent: isPooled ? this.#agents[isTls ? 'https' : 'http'] : false,
      lookup: guardedLookup(hosts.ruleOf(url.hostname), notPublicError, standIn?.resolve),
      ...CLIENT_TLS,
      ...(standIn && { port: standIn.port, ca: standIn.ca }),
      signal,
    });
    sent.on('error', () => {}); // Whoever waits for the response gets it.
    sent.end(body);
    try {
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      return response;
    } catch (error) {
      const wasIdle = sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET';
      if (!wasIdle || signal.aborted || !IDEMPOTENT.has(method)) throw error;
      return this.#responseTo(request, signal, false);
    }
  }
}

function headersOf({ url, fields, body }: OutboundRequest): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of fields) headers[name] = [...(headers[name] ?? []), value].flat();
  return { ...headers, host: url.host, ...(body && { 'content-length': String(body.length) }) };
}

async function readWhole(response: IncomingMessage): Promise<OutboundResponse> {
  const fields: [string, string][] = [];
  for (let i = 0; i + 1 < response.rawHeaders.length; i += 2)
    fields.push([response.rawHeaders[i] as string, response.rawHeaders[i + 1] as string]);
  const address = response.socket.remoteAddress ?? '';
  const body = await readDecodedBody(response);
  return { status: response.statusCode ?? 0, fields: new HeaderList(fields), body, address };
}
