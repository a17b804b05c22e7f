// A visitor's WebSocket at an endpoint whose service speaks plain TCP.

import { noopStreamEvents } from '../../protocol/mux/mux-stream.ts';
import { ErrorCode } from '../../protocol/mux/stream.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { headBytes } from '../pipeline/pipeline-response.ts';
import { acceptWebsocket } from '../websocket/handshake.ts';
import { bridgeWebsocket } from '../websocket/tcp-bridge.ts';
import type { ExecutedExchange, ModuleExecution } from './module-execution.ts';
import type { Http1ConnectionContext } from './owners.ts';
import type { RelayedExchange } from './response-relay.ts';

/** Answers the handshake once the stream is there, and joins the two from then on. */
export async function joinWebsocket(
  connection: Http1ConnectionContext,
  endpoint: LiveEndpoint,
  exchange: ExecutedExchange & Pick<RelayedExchange, 'isUnderWay' | 'takeRecording'>,
  { visit }: ModuleExecution,
): Promise<void> {
  const { fields } = visit.request;
  const isUpgrade = connection.request.isUpgrade && visit.request.method === 'GET';
  const isWebsocket = isUpgrade && fields.get('upgrade')?.toLowerCase() === 'websocket';
  const answer = isWebsocket ? acceptWebsocket(fields) : 'notAWebsocket';
  if (typeof answer === 'string') return exchange.refuse({ kind: 'fail', error: answer, fields: [] });
  const stream = await endpoint
    .open(connection.client.connection.visitor, noopStreamEvents)
    .catch(() => 'offline' as const);
  visit.settle(typeof stream === 'string' ? 'failed' : 101);
  if (typeof stream === 'string') return exchange.refuse({ kind: 'fail', error: stream, fields: [] });
  if (!exchange.isUnderWay) return stream.reset(ErrorCode.CANCELLED);
  connection.counter.countResponse(101);
  const head = headBytes(answer);
  connection.write(head);
  const recording = exchange.takeRecording();
  recording?.responseStarted(101, head.toString('latin1'));
  const counted = connection.counter.countUpgrade(connection.input.left, recording?.upgraded(connection));
  const first = connection.detach();
  if (!first) {
    counted.onClose(true);
    return stream.reset(ErrorCode.CANCELLED);
  }
  const { counters: traffic, onClose } = counted;
  bridgeWebsocket({ socket: connection.socket, stream, first, traffic, onClose });
}
