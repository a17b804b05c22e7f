// What a listener for HTTP asks of the rest of the gateway.

import type { VisitorError } from '../../http/visitor-errors.ts';
import type { Networks } from '../../net/networks.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import type { RequestHead } from '../codec/request-head.ts';
import type { HttpCounters } from '../metrics/counters.ts';
import type { EdgeSettings } from '../settings.ts';
import type { LocalReply } from './pipeline-response.ts';
import { redirectReply } from './redirect-reply.ts';
import type { PipelineServices } from './services.ts';

/** A name for which nothing is live on this node: nobody's, somebody's who is away, or live on another node. */
export type NameStatus = 'unknown' | 'offline' | 'elsewhere';

/** A side of the gateway that visitors come to. */
export interface ListenerContext {
  /** How visitors come: what upstreams are told in X-Forwarded-Proto. */
  readonly scheme: 'http' | 'https';
  /**
   * The endpoint for a name (lower case, no port, no dot at the end); `misdirected` when requests to it must not come on
   * this connection, which are answered with 421.
   */
  find(hostname: string): LiveEndpoint | 'misdirected' | undefined;
  /** About a name for which `find` has nothing. Rejects when it cannot be told. */
  statusOf(hostname: string): Promise<NameStatus>;
  /** An origin such as `https://example.com:8443` that serves a name for which `find` has nothing; 307 leads there. */
  redirect?(hostname: string): string | undefined;
  /** The handlings whose connection modules the connection has passed already. */
  readonly admitted?: Set<object> | undefined;
  readonly services: PipelineServices;
  readonly settings: EdgeSettings;
  /** Proxies whose `X-Forwarded-For` says who asks; undefined where nobody's does. */
  readonly proxies?: Networks | undefined;
  /** A clock that never goes back, in milliseconds. */
  now(): number;
  readonly counters: HttpCounters;
}

/** A side of the gateway as a whole, before it is known what a connection is for. */
export interface HttpListenerContext extends ListenerContext {
  find(hostname: string): LiveEndpoint | undefined;
}

/** A request for which there may be no endpoint. */
interface RoutedRequest {
  answer(answer: LocalReply): void;
  failed(error: VisitorError): void;
}

/** The endpoint that a request is for; undefined where there is none, which the visitor is told. */
export function endpointOf(
  front: ListenerContext,
  request: RequestHead,
  exchange: RoutedRequest,
): LiveEndpoint | undefined {
  const { line, hostname } = request;
  const isOtherScheme = line.authorityEnd > 0 && line.isHttps !== (front.scheme === 'https');
  const endpoint = isOtherScheme ? 'misdirected' : front.find(hostname);
  if (endpoint && endpoint !== 'misdirected') return endpoint;
  if (endpoint) exchange.failed(endpoint);
  else replyWithoutEndpoint(front, request, exchange);
  return undefined;
}

/** Tells a visitor what is known of the name of a request for which `find` has nothing. */
function replyWithoutEndpoint(front: ListenerContext, request: RequestHead, exchange: RoutedRequest): void {
  const origin = front.redirect?.(request.hostname);
  if (origin !== undefined) return void exchange.answer(redirectReply(origin, request));
  front.statusOf(request.hostname).then(
    (where) => exchange.failed(where === 'unknown' ? 'unknownName' : where),
    () => exchange.failed('unavailable'),
  );
}
