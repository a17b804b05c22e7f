// A visitor's WebSocket at an endpoint whose service speaks plain TCP.

import { DEAF } from '../../protocol/mux/mux-stream.ts';
import { ErrorCode } from '../../protocol/mux/stream.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { convertWebsocket } from '../websocket/bridge.ts';
import { websocketAnswer } from '../websocket/handshake.ts';
import type { AnsweredExchange } from './answer-relay.ts';
import type { Handled, HandledExchange } from './handled.ts';
import type { ExchangeOwner } from './owners.ts';
import { headBytes } from './visit-response.ts';

/** Answers the handshake once the stream is there, and joins the two from then on. */
export async function joinWebsocket(
  connection: ExchangeOwner,
  endpoint: LiveEndpoint,
  exchange: HandledExchange & Pick<AnsweredExchange, 'isUnderWay' | 'takeRecording'>,
  { visit }: Handled,
): Promise<void> {
  const { fields } = visit.request;
  const isUpgrade = connection.request.isUpgrade && visit.request.method === 'GET';
  const isWebsocket = isUpgrade && fields.get('upgrade')?.toLowerCase() === 'websocket';
  const answer = isWebsocket ? websocketAnswer(fields) : 'notAWebsocket';
  if (typeof answer === 'string') return exchange.refuse({ kind: 'fail', error: answer, fields: [] });
  const stream = await endpoint.open(connection.client.line.visitor, DEAF).catch(() => 'offline' as const);
  visit.settle(typeof stream === 'string' ? 'failed' : 101);
  if (typeof stream === 'string') return exchange.refuse({ kind: 'fail', error: stream, fields: [] });
  if (!exchange.isUnderWay) return stream.reset(ErrorCode.CANCELLED);
  connection.counting.answered(101);
  const head = headBytes(answer);
  connection.write(head);
  const recording = exchange.takeRecording();
  recording?.answered(101, head.toString('latin1'));
  const counted = connection.counting.upgraded(connection.input.left, recording?.upgraded(connection));
  const first = connection.detach();
  if (!first) {
    counted.onClose(true);
    return stream.reset(ErrorCode.CANCELLED);
  }
  convertWebsocket({ socket: connection.socket, stream, first, ...counted });
}
