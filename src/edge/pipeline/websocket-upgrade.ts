// The handshake of a visitor's WebSocket at an endpoint whose service speaks plain TCP.

import type { VisitorError } from '../../http/visitor-errors.ts';
import { noopStreamEvents } from '../../protocol/mux/mux-stream.ts';
import type { ByteStream } from '../../protocol/mux/stream.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { acceptWebsocket } from '../websocket/handshake.ts';
import type { ModulePipeline } from './module-pipeline.ts';
import { headBytes } from './pipeline-response.ts';
import type { RequestSource } from './transport.ts';

export interface OpenedWebsocket {
  readonly status: number;
  /** The head of the response to the visitor. */
  readonly head: Buffer;
  /** For what is in the visitor's messages, and what the messages to the visitor are made of. */
  readonly stream: ByteStream;
}

/** Opens a stream to the endpoint, where the request of a visitor is a handshake. */
export async function openWebsocket(
  endpoint: LiveEndpoint,
  source: RequestSource,
  modules: ModulePipeline,
): Promise<OpenedWebsocket | VisitorError> {
  const { method, fields } = modules.request;
  const isUpgrade = source.head.isUpgrade && method === 'GET';
  const isWebsocket = isUpgrade && fields.get('upgrade')?.toLowerCase() === 'websocket';
  const accepted = isWebsocket ? acceptWebsocket(fields) : 'notAWebsocket';
  if (typeof accepted === 'string') return accepted;
  const { visitor } = source.client.connection;
  const stream = await endpoint.open(visitor, noopStreamEvents).catch(() => 'offline' as const);
  modules.settle(typeof stream === 'string' ? 'failed' : accepted.status);
  return typeof stream === 'string' ? stream : { status: accepted.status, head: headBytes(accepted), stream };
}
